import { testDevice } from "../testDevice.js";
import { restoredHashes } from "./restoredHashes.js";
import { watchWorkers } from "./watchWorkers.js";

const watched = watchWorkers();

addEventListener("message", async ({ data: { directory, step } }: MessageEvent<{ readonly directory: string; readonly step: number }>) => {
  try {
    const hashes = await restoredHashes(directory, step, await testDevice());
    postMessage({ hashes, counts: watched.counts });
  } catch (error) {
    postMessage({ error: String(error) });
  }
});
