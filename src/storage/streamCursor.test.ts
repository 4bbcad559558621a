import { describe, expect, it } from "vitest";
import { StreamCursor } from "./streamCursor.js";

const bytes = Uint8Array.from({ length: 100 }, (_, index) => index);

/** The bytes in pieces of `size`, all in the same memory. */
async function* reusing(size: number, onEnd = () => {}): AsyncGenerator<Uint8Array> {
  const memory = new Uint8Array(size);
  try {
    for (let at = 0; at < bytes.length; at += size) {
      const piece = bytes.subarray(at, at + size);
      memory.set(piece);
      yield memory.subarray(0, piece.length);
      memory.fill(0xff);
    }
  } finally {
    onEnd();
  }
}

const cursorOf = (size: number, onEnd?: () => void) => new StreamCursor(reusing(size, onEnd), () => new Error("too short"));

async function collect(pieces: AsyncIterable<Uint8Array>): Promise<number[]> {
  const values: number[] = [];
  for await (const piece of pieces) values.push(...piece);
  return values;
}

describe.each([1, 3, 7, 50, 100, 200])("a stream of pieces of %i bytes", (size) => {
  it("is taken in runs, with gaps left out", async () => {
    const cursor = cursorOf(size);
    expect(await collect(cursor.pieces(10))).toEqual([...bytes.subarray(0, 10)]);
    expect(await cursor.take(5)).toEqual(bytes.subarray(10, 15));
    await cursor.skipTo(40);
    expect(cursor.position).toBe(40);
    expect(await cursor.take(0)).toHaveLength(0);
    expect(await collect(cursor.pieces(0))).toEqual([]);
    const left = cursor.pieces(20);
    await left.next();
    await left.return(undefined);
    await cursor.skipTo(70);
    expect(await cursor.take(30)).toEqual(bytes.subarray(70));
  });

  it("that ends too early is an error", async () => {
    const cursor = cursorOf(size);
    await expect(cursor.take(101)).rejects.toThrow("too short");
    await expect(cursorOf(size).skipTo(101)).rejects.toThrow("too short");
    await expect(collect(cursorOf(size).pieces(101))).rejects.toThrow("too short");
  });
});

it("closes the stream, also before the first byte", async () => {
  let ended = 0;
  const cursor = cursorOf(10, () => {
    ended += 1;
  });
  await cursor.take(3);
  await cursor.close();
  expect(ended).toBe(1);
  await cursorOf(10).close();
});
