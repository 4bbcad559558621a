import { expect, test } from "vitest";
import { ZstdDamage } from "./damage.js";
import { ZstdFrameScanner } from "./frameScanner.js";

const hex = (text: string) => Uint8Array.from(Buffer.from(text.replaceAll(" ", ""), "hex"));

// A window of 1 KiB and a checksum; a raw block "abc", an RLE block of 1,000 "z", a last raw block "d", four bytes of checksum.
const frame = hex("28b52ffd 04 00 | 180000 616263 | 421f00 7a | 090000 64 | 01020304".replaceAll("|", ""));

function scan(bytes: Uint8Array, size: number, decodedLength = 5000) {
  const scanner = new ZstdFrameScanner(decodedLength);
  const parts: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; start += size) parts.push(...scanner.push(bytes.subarray(start, start + size)));
  return { scanner, parts };
}

test.each([1, 2, 3, 5, 7, 100])("cuts a frame at its blocks, from pieces of %i bytes", (size) => {
  const { scanner, parts } = scan(frame, size);
  scanner.finish();
  expect(Buffer.concat(parts)).toEqual(Buffer.from(frame));
  expect(scanner.header).toMatchObject({ windowSize: 1024, hasChecksum: true });
  expect([scanner.shortest, scanner.longest]).toEqual([1004, 1004]);
  if (size === 100) expect(parts.map((part) => part.length)).toEqual([6, 3, 3, 3, 1, 3, 1, 4]);
});

test("bounds compressed blocks by the largest block", () => {
  const { scanner } = scan(hex("28b52ffd 00 58 | 140000 0000 | 0d0000 00".replaceAll("|", "")), 100);
  scanner.finish();
  expect([scanner.shortest, scanner.longest]).toEqual([0, 256 * 1024]);
});

test("narrows a declared window to the value", () => {
  const { parts } = scan(hex("28b52ffd 00 88 090000 64"), 100, 1);
  expect(parts[0]).toEqual(hex("28b52ffd 00 38"));
});

test("finds a frame that is cut short at any byte, and says where", () => {
  for (let length = 0; length < frame.length; length++) {
    const { scanner } = scan(frame.subarray(0, length), 100);
    expect(() => scanner.finish()).toThrow(ZstdDamage);
  }
  const { scanner } = scan(frame.subarray(0, 11), 100);
  const damage = { expected: "the rest of a zstd frame", message: "the end of the data, in a block", at: 11 };
  expect(() => scanner.finish()).toThrow(expect.objectContaining(damage));
});

test.each([
  ["bytes behind the frame", "28b52ffd 20 01 090000 64 00"],
  ["a second frame", "28b52ffd 20 01 090000 64 28b52ffd 20 01 090000 64"],
  ["a block of the reserved type", "28b52ffd 20 01 0f0000 64"],
  ["a raw block above the window", "28b52ffd 00 00 092000 64"],
  ["an RLE block above the window", "28b52ffd 00 00 0b2000 64"],
  ["an RLE block of 2 MiB", "28b52ffd 00 58 fbffff 64"],
])("refuses %s", (_, bytes) => {
  expect(() => scan(hex(bytes), 3)).toThrow(ZstdDamage);
});
