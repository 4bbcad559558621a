import { describe, expect, it } from "vitest";
import type { ByteSource } from "../../../bytes/source.js";
import { PostedBytes } from "./postedBytes.js";
import { ArrivingBytes } from "./storedBytes.js";

/** All bytes of a source, read a few at a time. */
async function all(source: ByteSource, most = 3): Promise<number[]> {
  const bytes: number[] = [];
  for (const into = new Uint8Array(most); ; ) {
    const count = await source.read(into);
    if (count === 0) return bytes;
    bytes.push(...into.subarray(0, count));
  }
}

/** Pieces of a run, all in the same memory. */
function pieces(...given: readonly number[][]) {
  const memory = new Uint8Array(16);
  const rest = [...given];
  return async () => {
    const piece = rest.shift();
    if (piece === undefined) return undefined;
    memory.fill(0xdd);
    memory.set(piece);
    return memory.subarray(0, piece.length);
  };
}

describe("ArrivingBytes", () => {
  it("gives ranges one after the other, and leaves out what lies between", async () => {
    const bytes = new ArrivingBytes(100, pieces([0, 1, 2, 3, 4], [], [5, 6], [7, 8, 9, 10, 11]));
    expect(await all(await bytes.at({ offset: 101, length: 3 }))).toEqual([1, 2, 3]);
    expect(await all(await bytes.at({ offset: 104, length: 2 }))).toEqual([4, 5]);
    expect(await all(await bytes.at({ offset: 110, length: 2 }))).toEqual([10, 11]);
  });

  it("ends where the run does", async () => {
    const bytes = new ArrivingBytes(0, pieces([1, 2]));
    expect(await all(await bytes.at({ offset: 1, length: 5 }))).toEqual([2]);
    expect(await all(await bytes.at({ offset: 9, length: 5 }))).toEqual([]);
  });

  it("passes a failure on", async () => {
    const bytes = new ArrivingBytes(0, () => Promise.reject(new Error("gone")));
    const source = await bytes.at({ offset: 0, length: 5 });
    await expect(source.read(new Uint8Array(1))).rejects.toThrow("gone");
  });
});

describe("PostedBytes", () => {
  it("waits for messages, and gives the memory of each back once it was read", async () => {
    const back: ArrayBuffer[] = [];
    const posted = new PostedBytes(10, (buffer) => back.push(buffer));
    const buffers = [Uint8Array.of(1, 2, 3, 9).buffer, Uint8Array.of(4, 5).buffer];
    const read = posted.at({ offset: 11, length: 4 }).then((source) => all(source));
    await Promise.resolve();
    posted.add(buffers[0] as ArrayBuffer, 3, 10);
    await Promise.resolve();
    posted.add(buffers[1] as ArrayBuffer, 2, 13);
    posted.end();
    expect(await read).toEqual([2, 3, 4, 5]);
    expect(back).toEqual([buffers[0]]);
    posted.close();
    expect(back).toEqual(buffers);
  });

  it("ends where no more is posted", async () => {
    const posted = new PostedBytes(0, () => {});
    posted.end();
    expect(await all(await posted.at({ offset: 0, length: 4 }))).toEqual([]);
  });
});
