// @ts-check
import { join } from "node:path";
import { startServer } from "../e2e/server/server.mjs";

/** Where the page finds the bundled checkpoints, relative to its own URL. */
const checkpointFolder = "digits/";

/**
 * Serves the built demo, and beside it the digits checkpoints that real substrax wrote, and the training images.
 * @param {{ root: string, built?: string, port?: number }} options `built`: the folder of the built demo; `port` 0: a free one.
 */
export async function serveDemo({ root, built = join(root, "demo", "dist"), port = 0 }) {
  const fixtures = join(root, "e2e", "fixtures", "data");
  const server = await startServer({
    root: built,
    mounts: { [`/${checkpointFolder}`]: join(fixtures, "digits"), "/training/": join(fixtures, "training") },
    port,
  });
  return {
    url: `${server.url}/`,
    built,
    close: () => server.close(),
    /** What was asked for of the checkpoints so far, or by the first requests; the page's own files do not count. */
    traffic: (first = Number.POSITIVE_INFINITY) => {
      const asked = server.requests.filter(({ path }) => path.startsWith(`/${checkpointFolder}checkpoints/`)).slice(0, first);
      return { requests: asked.length, bytes: asked.reduce((sum, { bytes }) => sum + bytes, 0) };
    },
  };
}
