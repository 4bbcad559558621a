import { deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Dtype, dtypes } from "../arrays/dtypes.js";
import { placeBlock } from "../arrays/place.js";
import { type Block, elementCount } from "../arrays/spec.js";
import { crc32c } from "../bytes/crc32c.js";
import { CorruptCheckpointError, UnsupportedCheckpointError } from "../errors.js";
import { memoryStorage } from "../storage/memory.js";
import { openZarrArray, type ZarrArray } from "./openArray.js";
import { readBlocks } from "./readBlocks.js";

const from = { path: "d/1", offset: 40 };

async function open(members: object): Promise<ZarrArray> {
  const metadata = { compressor: null, fill_value: null, filters: null, order: "C", zarr_format: 2, ...members };
  const array = await openZarrArray(memoryStorage({ ".zarray": new TextEncoder().encode(JSON.stringify(metadata)) }), "");
  if (array === undefined) throw new Error("no array");
  return array;
}

/** A zstd frame of raw blocks with its content size (RFC 8878). */
function zstdSync(bytes: Uint8Array): Uint8Array {
  const header = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0xa0, ...new Uint8Array(Uint32Array.of(bytes.length).buffer));
  return Uint8Array.from([...header, ...new Uint8Array(Uint32Array.of((bytes.length << 3) | 1).buffer).subarray(0, 3), ...bytes]);
}

const encoders = { zstd: zstdSync, gzip: gzipSync, zlib: deflateSync, none: (bytes: Uint8Array) => bytes } as const;

/** Stored bytes of a chunk whose element at C index `i` has the bytes that `element` gives. */
function storedChunk(shape: readonly number[], order: "C" | "F", itemsize: number, element: (at: number[]) => Uint8Array): Uint8Array {
  const axes = order === "C" ? shape : [...shape].reverse();
  const bytes = new Uint8Array(elementCount(shape) * itemsize);
  for (let index = 0; index * itemsize < bytes.length; index++) {
    let rest = index;
    const at: number[] = [];
    for (const length of [...axes].reverse()) {
      at.unshift(rest % length);
      rest = Math.floor(rest / length);
    }
    bytes.set(element(order === "C" ? at : at.reverse()), index * itemsize);
  }
  return bytes;
}

async function* cut(bytes: Uint8Array, length: number) {
  const memory = new Uint8Array(length);
  for (let start = 0; start < bytes.length; start += length) {
    const piece = bytes.subarray(start, start + length);
    memory.set(piece);
    yield memory.subarray(0, piece.length);
  }
}

const axis = fc.record({ length: fc.integer({ min: 1, max: 7 }), chunk: fc.integer({ min: 1, max: 9 }) });
const variants = fc.record({
  axes: fc.array(axis, { maxLength: 3 }),
  dtype: fc.constantFrom<Dtype>("uint8", "int16", "bfloat16", "float32", "int64", "complex64", "complex128", "float8_e4m3fn"),
  order: fc.constantFrom("C" as const, "F" as const),
  big: fc.boolean(),
  codec: fc.constantFrom("zstd" as const, "gzip" as const, "zlib" as const, "none" as const),
  piece: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
});

test("chunks of every kind, whole or in pieces, rebuild the array, and their bytes stay as they were", async () => {
  await fc.assert(
    fc.asyncProperty(variants, async ({ axes, dtype, order, big, codec, piece }) => {
      const { itemsize, unit, v2 } = dtypes[dtype];
      const shape = axes.map(({ length }) => length);
      const swaps = big && v2.startsWith("<");
      const array = await open({
        shape,
        chunks: axes.map(({ chunk }) => chunk),
        dtype: swaps ? v2.replace("<", ">") : v2,
        order,
        compressor: codec === "none" ? null : { id: codec },
      });
      const expected = Uint8Array.from({ length: elementCount(shape) * itemsize }, (_, index) => (index * 7) % 251);
      const target = new Uint8Array(expected.length);
      for (const chunk of array.chunks()) {
        const stored = storedChunk(array.chunkShape, order, itemsize, (at) => {
          const position = at.map((offset, index) => offset + (chunk.origin[index] ?? 0));
          if (position.some((value, index) => value >= (shape[index] ?? 0))) return new Uint8Array(itemsize).fill(0xee);
          const element = position.reduce((sum, value, index) => sum * (shape[index] ?? 1) + value, 0) * itemsize;
          const bytes = expected.slice(element, element + itemsize);
          if (swaps) for (let start = 0; start < itemsize; start += unit) bytes.subarray(start, start + unit).reverse();
          return bytes;
        });
        const encoded = Uint8Array.from(encoders[codec](stored));
        const before = encoded.slice();
        const source = piece === undefined ? encoded : cut(encoded, piece);
        for await (const block of readBlocks(array, chunk, source, from)) {
          expect(block.data.length % itemsize).toBe(0);
          placeBlock(target, array.spec, block);
        }
        expect(encoded).toEqual(before);
      }
      expect(target).toEqual(expected);
    }),
    { numRuns: 300 },
  );
});

async function collect(blocks: AsyncIterable<Block>): Promise<Block[]> {
  const all: Block[] = [];
  for await (const block of blocks) all.push({ ...block, data: block.data.slice() });
  return all;
}

const chunk = { key: "0", origin: [0] };

test("a stream gives blocks with growing offsets, one chunk in memory one block", async () => {
  const array = await open({ shape: [10], chunks: [10], dtype: "<u4" });
  const bytes = Uint8Array.from({ length: 40 }, (_, index) => index);
  const blocks = await collect(readBlocks(array, chunk, cut(bytes, 7), from));
  expect(blocks.map(({ elementOffset, data }) => [elementOffset, data.length])).toEqual([
    [0, 4],
    [1, 8],
    [3, 8],
    [5, 8],
    [7, 4],
    [8, 8],
  ]);
  expect((await collect(readBlocks(array, chunk, bytes, from))).map(({ data }) => data.length)).toEqual([40]);
});

test("a chunk too long to hold is decoded piece by piece, from memory too", async () => {
  const length = 20 * 1024 * 1024;
  const array = await open({ shape: [length], chunks: [length], dtype: "|u1" });
  let most = 0;
  let total = 0;
  for await (const { data } of readBlocks(array, chunk, new Uint8Array(length), from)) {
    most = Math.max(most, data.length);
    total += data.length;
  }
  expect(total).toBe(length);
  expect(most).toBeLessThanOrEqual(1024 * 1024);
});

test("a chunk that decodes to another length is damage, whole and streamed, in every codec", async () => {
  for (const codec of ["zstd", "gzip", "zlib", "none"] as const) {
    const array = await open({ shape: [4], chunks: [4], dtype: "<u4", compressor: codec === "none" ? null : { id: codec } });
    for (const length of [0, 12, 15, 17, 20]) {
      const encoded = Uint8Array.from(encoders[codec](new Uint8Array(length)));
      await expect(collect(readBlocks(array, chunk, encoded, from)), `${codec} ${length}`).rejects.toThrow(CorruptCheckpointError);
      await expect(collect(readBlocks(array, chunk, cut(encoded, 5), from)), `${codec} ${length}`).rejects.toThrow(CorruptCheckpointError);
    }
  }
});

test("a bool byte other than 0 and 1 is damage, also late in a stream", async () => {
  const array = await open({ shape: [9], chunks: [9], dtype: "|b1" });
  const bytes = Uint8Array.of(0, 1, 1, 0, 0, 0, 0, 0, 255);
  await expect(collect(readBlocks(array, chunk, bytes, from))).rejects.toThrow("d/1 at byte 40");
  await expect(collect(readBlocks(array, chunk, cut(bytes, 4), from))).rejects.toThrow(CorruptCheckpointError);
});

test("int4 comes sign-extended", async () => {
  const array = await open({ shape: [3], chunks: [3], dtype: "int4" });
  const [block] = await collect(readBlocks(array, chunk, Uint8Array.of(0x0e, 0x08, 0x07), from));
  expect(block?.data).toEqual(Uint8Array.of(0xfe, 0xf8, 0x07));
});

test("a shard gives a block for each of its chunks, and the fill value for one that was left out", async () => {
  const zstd = { name: "zstd", configuration: { level: 1 } };
  const metadata = {
    chunk_grid: { name: "regular", configuration: { chunk_shape: [2, 4] } },
    chunk_key_encoding: { name: "default" },
    codecs: [
      {
        name: "sharding_indexed",
        configuration: {
          chunk_shape: [2, 2],
          codecs: [{ name: "transpose", configuration: { order: [1, 0] } }, { name: "bytes", configuration: { endian: "big" } }, zstd],
          index_codecs: [{ name: "bytes", configuration: { endian: "little" } }, { name: "crc32c" }],
        },
      },
    ],
    data_type: "int16",
    fill_value: 9,
    node_type: "array",
    shape: [2, 7],
    zarr_format: 3,
  };
  const array = await openZarrArray(memoryStorage({ "zarr.json": new TextEncoder().encode(JSON.stringify(metadata)) }), "");
  if (array === undefined) throw new Error("no array");
  expect(array).toMatchObject({ chunkShape: [2, 4], chunkCount: 2, chunkByteLength: 16, streamable: false });
  const frame = zstdSync(Uint8Array.of(0, 1, 0, 3, 0, 2, 0, 4));
  const index = new Uint8Array(BigUint64Array.of(2n ** 64n - 1n, 2n ** 64n - 1n, 0n, BigInt(frame.length)).buffer);
  const shard = Uint8Array.from([...frame, ...index, ...new Uint8Array(Uint32Array.of(crc32c(index)).buffer)]);
  const target = new Int16Array(14);
  for (const source of [shard, cut(shard, 9)]) {
    target.fill(0);
    for await (const block of readBlocks(array, { key: "c/0/0", origin: [0, 0] }, source, from)) {
      placeBlock(new Uint8Array(target.buffer), array.spec, block);
    }
    expect([...target]).toEqual([9, 9, 1, 2, 0, 0, 0, 9, 9, 3, 4, 0, 0, 0]);
  }
  const lost = readBlocks(array, { key: "c/0/0", origin: [0, 0] }, shard.subarray(1), from);
  await expect(collect(lost)).rejects.toThrow(CorruptCheckpointError);
});

test("an abort stops a stream between two pieces", async () => {
  const array = await open({ shape: [100], chunks: [100], dtype: "|u1" });
  const stop = new AbortController();
  const blocks = readBlocks(array, chunk, cut(new Uint8Array(100), 10), from, { signal: stop.signal });
  expect((await blocks.next()).done).toBe(false);
  stop.abort(new Error("stop"));
  await expect(collect(blocks)).rejects.toThrow("stop");
});

test("leaving the loop closes the source", async () => {
  const array = await open({ shape: [100], chunks: [100], dtype: "<u2" });
  let closed = false;
  async function* source() {
    try {
      yield* cut(new Uint8Array(200), 10);
    } finally {
      closed = true;
    }
  }
  for await (const _ of readBlocks(array, chunk, source(), from)) break;
  expect(closed).toBe(true);
});

test("a chunk far larger than its array is refused before it is decoded", async () => {
  const array = await open({ shape: [4], chunks: [2 ** 27], dtype: "|u1", compressor: { id: "gzip" } });
  const [chunk] = array.chunks();
  if (chunk === undefined) throw new Error("no chunk");
  await expect(readBlocks(array, chunk, gzipSync(new Uint8Array(4)), from).next()).rejects.toThrow(UnsupportedCheckpointError);
});
