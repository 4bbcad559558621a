import Zstd from "numcodecs/zstd";
import { randomFrom } from "../page/random.js";
import type { MadeArray } from "./stepFiles.js";

/** An int32 array of numbers that repeat, in one zstd frame: its blocks look back at each other, so it cannot be cut. */
export async function structuredArray(byteLength: number, seed: number): Promise<{ array: MadeArray; bytes: Uint8Array }> {
  const random = randomFrom(seed);
  const words = new Int32Array(byteLength / 4);
  for (let start = 0; start < words.length; ) {
    const first = random.integer(0, 5000);
    const end = Math.min(words.length, start + random.integer(20, 400));
    for (let index = start; index < end; index++) words[index] = index % 3 === 0 ? first : first + index - start;
    start = end;
  }
  const bytes = new Uint8Array(words.buffer);
  const frame = await Zstd.fromConfig({ id: "zstd", level: 1 }).encode(bytes);
  return {
    array: { name: "w", dtype: "int32", shape: [words.length], chunkShape: [words.length], compressed: true, chunks: [[frame]] },
    bytes,
  };
}
