import { httpStorage, mirrored, OrbaxCheckpointStore } from "orbax-webgpu";
import { countingFetch } from "./traffic.js";

/** Where the checkpoints lie that come with the pages. */
export const checkpoints = new URL("digits/checkpoints/", document.baseURI);

/** The same as they are read: over HTTP, and from the pages' own files where those have them. */
export const mirror = mirrored(httpStorage(checkpoints, { fetch: countingFetch }), "mirror");

/** Their steps, for servers that list no folders. */
export const bundledSteps = [400, 800, 1200];

/** The step that the training begins with: the latest that Python saved. */
export const bundledStep = 1200;

/** Has the mirror keep all of that step, so that either page can begin with it when it is first opened without a network. */
export async function keepBundledStep(): Promise<void> {
  await new OrbaxCheckpointStore(mirror).restore(bundledStep);
  await mirror.size(); // told when all is kept
}
