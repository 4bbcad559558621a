import { describe, expect, test } from "vitest";
import { blobPieces, readBlob } from "./blobBytes.js";
import { withoutByteStreams } from "./fakeFileSystem.testing.js";

const bytes = Uint8Array.from({ length: 2 * 1024 * 1024 + 5 }, (_, index) => (index * 31 + (index >> 8)) % 256);

/** A blob of that size whose stream gives so many bytes at a time, and ends after `end`. */
function streaming(size: number, atATime: number, end = size) {
  const told = { cancelled: false };
  let at = 0;
  const pull = (controller: ReadableByteStreamController) => {
    const view = controller.byobRequest?.view;
    if (view === undefined || view === null) throw new Error("read into memory of the stream's own");
    const memory = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    const length = Math.min(memory.byteLength, atATime, end - at);
    if (length === 0) controller.close();
    memory.set(bytes.subarray(at, at + length));
    at += length;
    controller.byobRequest?.respond(length);
  };
  const cancel = () => {
    told.cancelled = true;
  };
  const stream = () => new ReadableStream({ type: "bytes", pull, cancel });
  return { told, blob: Object.assign(new Blob([new Uint8Array(size)]), { stream }) };
}

async function collect(pieces: AsyncIterable<Uint8Array>) {
  const lengths: number[] = [];
  const all = new Uint8Array(bytes.byteLength);
  let filled = 0;
  for await (const piece of pieces) {
    all.set(piece, filled);
    filled += piece.byteLength;
    lengths.push(piece.byteLength);
  }
  return { lengths, all: all.subarray(0, filled) };
}

describe.each([
  ["a byte stream", () => new Blob([bytes])],
  ["a stream with memory of its own", () => withoutByteStreams(new Blob([bytes]))],
])("from %s", (_, make) => {
  test("all bytes come in one, or in pieces of 1 MiB", async () => {
    expect(Buffer.compare(await readBlob(make()), bytes)).toBe(0);
    const { lengths, all } = await collect(blobPieces(make(), {}));
    expect(lengths).toEqual([1024 * 1024, 1024 * 1024, 5]);
    expect(Buffer.compare(all, bytes)).toBe(0);
  });

  test("nothing comes after an abort", async () => {
    const controller = new AbortController();
    const read = async () => {
      for await (const _ of blobPieces(make(), controller)) controller.abort("enough");
    };
    await expect(read()).rejects.toBe("enough");
  });
});

test("pieces are as long where the stream gives less than it is asked for", async () => {
  const { lengths, all } = await collect(blobPieces(streaming(bytes.byteLength, 100_001).blob, {}));
  expect(lengths).toEqual([1024 * 1024, 1024 * 1024, 5]);
  expect(Buffer.compare(all, bytes)).toBe(0);
});

test("pieces come in the same memory, again and again", async () => {
  const buffers: ArrayBuffer[] = [];
  for await (const piece of blobPieces(streaming(bytes.byteLength, 1e6).blob, {})) buffers.push(piece.buffer);
  expect(buffers.map(({ byteLength }) => byteLength)).toEqual([0, 0, 1024 * 1024]);
});

test("no bytes of an empty blob", async () => {
  expect(await readBlob(new Blob())).toHaveLength(0);
  expect((await collect(blobPieces(new Blob(), {}))).lengths).toEqual([]);
});

test("a blob that ends early is an error, never fewer bytes", async () => {
  const short = Object.assign(new Blob([bytes]), { arrayBuffer: async () => new ArrayBuffer(10) });
  await expect(readBlob(short)).rejects.toThrow(/ended before its last byte/);
  await expect(collect(blobPieces(streaming(1000, 300, 700).blob, {}))).rejects.toThrow(/ended before its last byte/);
});

test("lets go of what it does not read", async () => {
  const { told, blob } = streaming(bytes.byteLength, 1000);
  for await (const _ of blobPieces(blob, {})) break;
  expect(told.cancelled).toBe(true);
});
