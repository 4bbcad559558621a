import { OrbaxCheckpointStore } from "orbax-webgpu";
import { testDevice } from "./testDevice.js";

interface Asked {
  readonly url: string;
  readonly step: number;
  readonly item: string;
  readonly path: string;
}

addEventListener("message", async ({ data }: MessageEvent<Asked>) => {
  try {
    postMessage({ hex: await restoreLeaf(data) });
  } catch (error) {
    postMessage({ error: String(error) });
  }
});

async function restoreLeaf({ url, step, item, path }: Asked): Promise<string> {
  await using store = new OrbaxCheckpointStore(url, { device: await testDevice() });
  const leaf = (await store.restore(step)).leaf(item, path);
  if (leaf === null || typeof leaf !== "object" || !("buffer" in leaf)) throw new Error(`${path} is not on the device`);
  const { data } = await leaf.read();
  return Array.from(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
