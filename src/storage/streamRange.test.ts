import { expect, test } from "vitest";
import { memoryStorage } from "./memory.js";
import { streamPieceLength, streamRange } from "./streamRange.js";

test("reads pieces of 1 MiB from a storage that cannot stream", async () => {
  const bytes = new Uint8Array(2 * streamPieceLength + 10).fill(1);
  const lengths: number[] = [];
  for await (const piece of streamRange(memoryStorage({ x: bytes }), "x", { offset: 5, length: 2 * streamPieceLength + 5 })) {
    lengths.push(piece.byteLength);
  }
  expect(lengths).toEqual([streamPieceLength, streamPieceLength, 5]);
});

test("says which file and which bytes are missing", async () => {
  const read = async () => {
    for await (const _ of streamRange(memoryStorage(), "d/0a", { offset: 7, length: 9 }));
  };
  await expect(read()).rejects.toThrow("d/0a at byte 7: expected a file with 9 bytes there, received no such file");
});
