import { expect, test } from "vitest";
import { blockWithoutSequences } from "./blockStart.js";
import { blockBytes, compressedBlock, hex, rawBlock, rleBlock } from "./frames.testing.js";

const read = (block: Uint8Array, limit = blockBytes) => blockWithoutSequences(block.subarray(0, 8), limit);

test("stored and repeated bytes", () => {
  expect(read(rawBlock(new Uint8Array(300), true))).toEqual({ byteLength: 303, decodedLength: 300, table: "none", isLast: true });
  expect(read(rawBlock(new Uint8Array()))).toEqual({ byteLength: 3, decodedLength: 0, table: "none", isLast: false });
  expect(read(rleBlock(7))).toEqual({ byteLength: 4, decodedLength: blockBytes, table: "none", isLast: false });
});

/** A literals header of Huffman-coded literals, then as many bytes as it says, and one for "no sequences". */
function huffman(kind: "own" | "previous", format: 0 | 1 | 2 | 3, decoded: number, compressed: number): Uint8Array {
  const length = [3, 3, 4, 5][format] ?? 0;
  const sizeBits = [10, 10, 14, 18][format] ?? 0;
  const bits = (kind === "own" ? 2 : 3) + 4 * format + 16 * (decoded + compressed * 2 ** sizeBits);
  const content = new Uint8Array(length + compressed + 1);
  for (let at = 0; at < length; at++) content[at] = Math.floor(bits / 256 ** at) % 256;
  return compressedBlock(content);
}

test.each([
  [0, 900, 800],
  [1, 1023, 1000],
  [2, 16_000, 15_000],
  [3, blockBytes, 100_000],
] as const)("Huffman-coded literals of format %i", (format, decodedLength, compressed) => {
  for (const table of ["own", "previous"] as const) {
    const block = huffman(table, format, decodedLength, compressed);
    expect(read(block)).toEqual({ byteLength: block.length, decodedLength, table, isLast: false });
    expect(read(block, decodedLength - 1)).toBeUndefined();
  }
});

test.each([
  ["28 6162636465 00", 5],
  ["54 00 6162636465 00", 5],
  ["5c 00 00 6162636465 00", 5],
  ["29 61 00", 5],
  ["05 80 61 00", 2048],
  ["0d 00 10 61 00", 65_536],
])("plain literals %s", (content, decodedLength) => {
  const block = compressedBlock(hex(content));
  expect(read(block)).toEqual({ byteLength: block.length, decodedLength, table: "none", isLast: false });
});

test.each([
  ["sequences behind the literals", compressedBlock(hex("28 6162636465 01 00 1234"))],
  ["no byte behind the literals", compressedBlock(hex("28 6162636465"))],
  ["the reserved type", hex("0e0000")],
  ["a block above the limit", rleBlock(1, blockBytes + 1)],
  ["literals above the limit", compressedBlock(hex("0d 10 20 61 00"))],
  ["an empty compressed block", compressedBlock(hex(""))],
  ["a header that is cut short", hex("0200")],
  ["a literals header that is cut short", hex("2c0000 0e 00")],
])("knows nothing of %s", (_, block) => {
  expect(read(block)).toBeUndefined();
});
