import { expect, test } from "vitest";
import type { LeafUpload } from "./leafUpload.js";
import { batchesOf } from "./writeBatches.js";

const upload = {} as LeafUpload;
const piece = (length: number) => ({ upload, block: { origin: [0], shape: [length], elementOffset: 0, data: new Uint8Array(length) } });
const lengthsOf = (...lengths: number[]) =>
  Array.from(batchesOf(lengths.map(piece), 10), ({ byteLength, pieces }) => [byteLength, ...pieces.map(({ block }) => block.data.length)]);

test("puts short pieces together, in order, up to the longest batch", () => {
  expect(lengthsOf(4, 4, 2, 1, 10, 9, 2)).toEqual([
    [10, 4, 4, 2],
    [1, 1],
    [10, 10],
    [9, 9],
    [2, 2],
  ]);
  expect(lengthsOf()).toEqual([]);
});
