import { describe, expect, it } from "vitest";
import { placeBlock } from "../../arrays/place.js";
import type { ByteRange } from "../../bytes/ranges.js";
import { memoryStorage } from "../../storage/memory.js";
import type { ReadableStorage } from "../../storage/storage.js";
import { ByteBudget } from "../../tasks/budget.js";
import { openZarrArray } from "../../zarr/openArray.js";
import type { WriteBlocks } from "./delivery.js";
import type { LocatedChunk } from "./locateChunks.js";
import { moveBytes, type Road, type Transfer } from "./transfer.js";

const kibibyte = 1024;
const folder = "7/model";

/** An array of bytes in chunks, without compression. */
async function arrayOf(length: number, chunkLength: number) {
  const metadata = { zarr_format: 2, shape: [length], chunks: [chunkLength], dtype: "|u1", order: "C", compressor: null };
  const bytes = new TextEncoder().encode(JSON.stringify({ ...metadata, fill_value: null, filters: null }));
  const array = await openZarrArray(memoryStorage({ ".zarray": bytes }), "");
  if (array === undefined) throw new Error("no array");
  return array;
}

/** A data file that streams in pieces of an odd size, all in the same memory, and counts. */
function dataFile(bytes: Uint8Array, ends = bytes.length) {
  const asked: (ByteRange & { kind: "read" | "stream" })[] = [];
  let open = 0;
  const storage: ReadableStorage = {
    async read(_, { range = { offset: 0, length: bytes.length } } = {}) {
      asked.push({ kind: "read", ...range });
      return bytes.slice(range.offset, range.offset + range.length);
    },
    async *stream(_, range) {
      asked.push({ kind: "stream", ...range });
      open += 1;
      const memory = new Uint8Array(50_001);
      try {
        for (let at = range.offset; at < Math.min(ends, range.offset + range.length); at += memory.length) {
          const piece = bytes.subarray(at, Math.min(at + memory.length, ends, range.offset + range.length));
          memory.set(piece);
          yield memory.subarray(0, piece.length);
          memory.fill(0xdd);
        }
      } finally {
        open -= 1;
      }
    },
    list: async () => ({ files: [], directories: [] }),
  };
  return { storage, asked, stillOpen: () => open };
}

type File = ReturnType<typeof dataFile>;

/** A transfer into memory; each chunk lies at its own offset. */
async function transferOf(file: File, length: number, chunkLength: number, offsets: readonly number[]) {
  const array = await arrayOf(length, chunkLength);
  const target = new Uint8Array(length);
  let done = 0;
  const chunks = Array.from(array.chunks(), (chunk, index): LocatedChunk => {
    const range = { offset: offsets[index] ?? 0, length: chunkLength };
    return { chunk, source: { kind: "range", storage: file.storage, path: "d/file", range } };
  });
  const transfer: Transfer = {
    array,
    dtype: "uint8",
    folder,
    chunks,
    missingChunksAreLost: true,
    target: undefined,
    chunkDone: () => {
      done += 1;
    },
  };
  const write: WriteBlocks<unknown> = (blocks) => {
    for (const { block } of blocks) placeBlock(target, array.spec, block);
  };
  return { transfer, target, write, chunksDone: () => done };
}

/** The road without workers, and without WebAssembly. */
const road = (budget: ByteBudget, write: WriteBlocks<unknown>): Road<unknown> => ({
  budget,
  write,
  decoding: async () => ({ workers: undefined, zstd: undefined }),
});

const contents = (length: number) => Uint8Array.from({ length }, (_, index) => (index * 31 + (index >> 9)) % 256);

describe("moveBytes", () => {
  it.each([10, 31 * kibibyte, 33 * kibibyte, 300 * kibibyte, 3000 * kibibyte])(
    "takes chunks of %i bytes out of one stream, gaps between them",
    async (chunkLength) => {
      const bytes = contents(4 * chunkLength + 600);
      const file = dataFile(bytes);
      const offsets = [0, 1, 2, 3].map((index) => index * (chunkLength + 200));
      const { transfer, target, write, chunksDone } = await transferOf(file, 4 * chunkLength - 5, chunkLength, offsets);
      const budget = new ByteBudget(8 * 1024 * kibibyte);
      await moveBytes([transfer], road(budget, write), {});
      const expected = Buffer.concat(offsets.map((offset) => bytes.subarray(offset, offset + chunkLength)));
      expect(Buffer.compare(target, expected.subarray(0, target.length))).toBe(0);
      expect(chunksDone()).toBe(4);
      expect(file.stillOpen()).toBe(0);
      expect(budget.used).toBe(0);
      // A request for each run of 8 MiB; one that is short is read whole.
      expect(file.asked.map(({ kind }) => kind)).toEqual(
        chunkLength > 1024 * kibibyte ? ["stream", "stream"] : [bytes.length > 1024 * kibibyte ? "stream" : "read"],
      );
    },
  );

  it("reads a chunk that overlaps another one by itself", async () => {
    const length = 40 * kibibyte;
    const bytes = contents(2 * length);
    const file = dataFile(bytes);
    const { transfer, target, write } = await transferOf(file, 4 * length, length, [0, 100, 0, length]);
    await moveBytes([transfer], road(new ByteBudget(1024 * kibibyte), write), {});
    const expected = Buffer.concat([0, 100, 0, length].map((offset) => bytes.subarray(offset, offset + length)));
    expect(Buffer.compare(target, expected)).toBe(0);
  });

  it("names the file and byte of a range that a place ends too early", async () => {
    const length = 2000 * kibibyte;
    const file = dataFile(contents(2 * length), length + 10);
    const { transfer, write } = await transferOf(file, 2 * length, length, [0, length]);
    await expect(moveBytes([transfer], road(new ByteBudget(1024 * kibibyte), write), {})).rejects.toMatchObject({
      name: "CorruptCheckpointError",
      path: `${folder}/d/file`,
    });
    expect(file.stillOpen()).toBe(0);
  });

  it("gives its streams up when a write fails, and says why", async () => {
    const length = 3000 * kibibyte;
    const file = dataFile(contents(4 * length));
    const { transfer } = await transferOf(file, 4 * length, length, [0, length, 2 * length, 3 * length]);
    let writes = 0;
    const write = async () => {
      if (++writes === 3) throw new Error("full");
    };
    const budget = new ByteBudget(16 * 1024 * kibibyte);
    await expect(moveBytes([transfer], road(budget, write), {})).rejects.toThrow("full");
    await expect.poll(() => file.stillOpen()).toBe(0);
    expect(budget.used).toBe(0);
  });

  it("keeps within its budget, also where a chunk is larger than it", async () => {
    const length = 5000 * kibibyte;
    const file = dataFile(contents(length));
    const { transfer, target, write } = await transferOf(file, length, length, [0]);
    const budget = new ByteBudget(512 * kibibyte);
    await moveBytes([transfer], road(budget, write), {});
    expect(Buffer.compare(target, contents(length))).toBe(0);
    expect(budget.peak).toBeLessThanOrEqual(budget.limit);
    expect(budget.peak).toBeGreaterThan(0);
  });
});
