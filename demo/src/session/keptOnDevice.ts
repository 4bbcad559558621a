import { keepBundledStep, mirror } from "./bundled.js";

/** What of the page and its checkpoints stands on the device, and whether it opens without a network. */
export interface KeptOnDevice {
  readonly bytes: number;
  readonly state:
    | { readonly kind: "keeping" }
    /** The restored step and the page itself are there. */
    | { readonly kind: "works-offline" }
    /** The restored step is there, the page is not: this browser keeps none. */
    | { readonly kind: "checkpoint-only" }
    /** Restored without an answer from the server. */
    | { readonly kind: "offline" }
    | { readonly kind: "not-kept"; readonly problem: Error };
}

/** Takes over how far it is. */
type Tell = (kept: KeptOnDevice) => void;

/** Tells, once a step is restored, what is kept; and, when the browser has kept the pages too, that they work offline. */
export async function tellKept(tell: Tell): Promise<void> {
  const { problem, offline } = mirror.progress;
  if (problem !== undefined) return tell({ bytes: 0, state: { kind: "not-kept", problem } });
  const bytes = await mirror.size();
  if (offline) return tell({ bytes, state: { kind: "offline" } });
  tell({ bytes, state: { kind: "keeping" } });
  const kind = (await keepForOffline()) ? "works-offline" : "checkpoint-only";
  tell({ bytes: await mirror.size(), state: { kind } });
}

/** Keeps the step that the training begins with, and the pages; whether both work without a network from now on. */
export async function keepForOffline(): Promise<boolean> {
  if (mirror.progress.problem === undefined) await keepBundledStep();
  return mirror.progress.problem === undefined && keepPage();
}

/** Lets a service worker keep the pages' own files; false where the browser has none. */
async function keepPage(): Promise<boolean> {
  // Pages without https have none, whatever the types say.
  const workers = (navigator as { readonly serviceWorker?: ServiceWorkerContainer }).serviceWorker;
  if (workers === undefined) return false;
  try {
    await workers.register(new URL("offline.js", document.baseURI));
    await workers.ready;
    return true;
  } catch {
    return false;
  }
}
