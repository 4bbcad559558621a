import { type Random, randomFrom } from "../page/random.js";
import type { MadeArray } from "./stepFiles.js";
import { blockBytes, frameOf, huffmanBlock } from "./zstdBlocks.js";

/** A float32 array like trained weights, that exists only as blocks from which it is put together. */
export interface LargeArray {
  readonly byteLength: number;
  /** The array as a made step has it, in one chunk or in chunks of so many bytes. */
  inChunksOf(chunkBytes: number): MadeArray;
  /** All of it, in pieces that stand in several places. */
  contents(): readonly Uint8Array[];
  /** Where to look, as indices of 32-bit words, and what stands there: at two places of every 128 KiB. */
  samples(): { readonly indices: Uint32Array; readonly words: Uint32Array };
}

const name = "w";
const differentBlocks = 64;

/** Makes an array of normally distributed numbers. Its blocks come from a pool, in an order without a period. */
export async function largeArray(byteLength: number, seed: number): Promise<LargeArray> {
  const random = randomFrom(seed);
  const contents = Array.from({ length: differentBlocks }, () => normalNumbers(random, blockBytes / 4));
  const blocks = await Promise.all(contents.map((content) => huffmanBlock(new Uint8Array(content.buffer))));
  const order = Array.from({ length: byteLength / blockBytes }, () => random.integer(0, differentBlocks - 1));
  return {
    byteLength,
    inChunksOf(chunkBytes) {
      const blocksPerChunk = chunkBytes / blockBytes;
      const chunks = Array.from({ length: byteLength / chunkBytes }, (_, chunk) =>
        frameOf(order.slice(chunk * blocksPerChunk, (chunk + 1) * blocksPerChunk).map((index) => blocks[index] as Uint8Array)),
      );
      return { name, dtype: "float32", shape: [byteLength / 4], chunkShape: [chunkBytes / 4], compressed: true, chunks };
    },
    contents() {
      const bytes = contents.map(({ buffer }) => new Uint8Array(buffer));
      return order.flatMap((block) => bytes[block] ?? []);
    },
    samples() {
      const words = contents.map((content) => new Uint32Array(content.buffer));
      const places = order.flatMap((block, at) =>
        [0, 1].map(() => {
          const within = random.integer(0, blockBytes / 4 - 1);
          return { index: at * (blockBytes / 4) + within, word: words[block]?.[within] ?? 0 };
        }),
      );
      return { indices: Uint32Array.from(places, ({ index }) => index), words: Uint32Array.from(places, ({ word }) => word) };
    },
  };
}

/** Numbers of mean 0 and deviation 0.02, by Box and Muller. */
function normalNumbers(random: Random, count: number): Float32Array<ArrayBuffer> {
  const uniform = () => random.integer(1, 2 ** 24) / 2 ** 24;
  return Float32Array.from({ length: count }, () => 0.02 * Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()));
}
