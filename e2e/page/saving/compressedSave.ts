import { OrbaxCheckpointStore, opfsStorage } from "orbax-webgpu";
import { encodeHere } from "../../../src/codecs/zstd/encodeHere.js";
import { randomFrom } from "../random.js";
import { watchWorkers } from "../workers/watchWorkers.js";

const mebibyte = 2 ** 20;
const chunkBytes = 8 * mebibyte;
const rows = 24;

/** Saves 24 MiB compressed. What workers were asked, whether this thread loaded an encoder, and where chunks are not as it would make them. */
export async function compressedSave(directory: string) {
  const watched = watchWorkers();
  const store = new OrbaxCheckpointStore(directory);
  const words = randomFrom(3)
    .bytes(rows * mebibyte)
    .map((byte) => byte & 0x1f);
  const data = new Float32Array(words.buffer);
  await store.save(1, { model: { shape: [rows, mebibyte / 4], dtype: "float32", data } }, { compression: "zstd" });
  const { told } = watched.counts;
  const loaded = performance.getEntriesByType("resource").map(({ name }) => name.slice(name.lastIndexOf("/") + 1));
  const restored = (await store.restore(1)).leaf("model", "") as { readonly data: Float32Array };
  const isSame = restored.data.every((value, index) => Object.is(value, data[index]));

  const storage = opfsStorage(`${directory}/1/model/d`);
  const [file = ""] = (await storage.list("")).files;
  const stored = (await storage.read(file)) ?? new Uint8Array();
  const different: number[] = [];
  for (let at = 0, offset = 0; offset < words.length; offset += chunkBytes) {
    const frame = await encodeHere(words.subarray(offset, offset + chunkBytes));
    if (frame.some((byte, index) => byte !== stored[at + index])) different.push(offset);
    at += frame.length;
  }
  return { encoded: told.encode, loaded, isSame, different };
}
