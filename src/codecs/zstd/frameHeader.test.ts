import { expect, test } from "vitest";
import { ZstdDamage } from "./damage.js";
import { blockLimit, narrowWindow, parseFrameHeader } from "./frameHeader.js";

const hex = (text: string) => Uint8Array.from(Buffer.from(text.replaceAll(" ", ""), "hex"));

test("reads the headers that Orbax writes", () => {
  // orbax-format: a chunk with one-byte size, one without size and a window byte, a node with a two-byte size, a large chunk.
  expect(parseFrameHeader(hex("28b52ffd 20 20 010100"))).toEqual({
    byteLength: 6,
    contentSize: 32,
    windowSize: 32,
    singleSegment: true,
    hasChecksum: false,
  });
  expect(parseFrameHeader(hex("28b52ffd 00 00 010100"))).toMatchObject({ byteLength: 6, contentSize: undefined, windowSize: 1024 });
  expect(parseFrameHeader(hex("28b52ffd 60 b000 a50600"))).toMatchObject({ byteLength: 7, contentSize: 432, windowSize: 432 });
  expect(parseFrameHeader(hex("28b52ffd 80 48 00000010"))).toMatchObject({
    byteLength: 10,
    contentSize: 2 ** 28,
    windowSize: 512 * 1024,
    singleSegment: false,
  });
});

test("reads eight-byte sizes, checksum flags and empty dictionary ids", () => {
  expect(parseFrameHeader(hex("28b52ffd c4 58 0000000001000000"))).toMatchObject({
    contentSize: 2 ** 32,
    hasChecksum: true,
    byteLength: 14,
  });
  expect(parseFrameHeader(hex("28b52ffd 83 58 00000000 05000000"))).toMatchObject({ contentSize: 5, byteLength: 14 });
  expect(parseFrameHeader(hex("28b52ffd 01 5f 00"))).toMatchObject({ windowSize: 2 ** 21 * (1 + 7 / 8), byteLength: 7 });
});

test("waits for the rest of a header", () => {
  const whole = hex("28b52ffd c4 58 0000000001000000");
  for (let length = 0; length < whole.length; length++) expect(parseFrameHeader(whole.subarray(0, length))).toBeUndefined();
});

test.each([
  ["another magic", "00b52ffd 20 20"],
  ["a skippable frame", "512a4d18 04000000"],
  ["the reserved bit", "28b52ffd 28 20"],
  ["a dictionary", "28b52ffd 21 07 20"],
  ["a window above 128 MiB", "28b52ffd 00 89"],
  ["a single segment above 128 MiB", "28b52ffd a0 00000010"],
  ["the largest size there is", "28b52ffd e0 ffffffffffffffff"],
])("refuses %s", (_, header) => {
  expect(() => parseFrameHeader(hex(header))).toThrow(ZstdDamage);
});

test("narrows a window that is larger than the value, but not below a block", () => {
  const narrowed = (text: string, decodedLength: number) => {
    const header = parseFrameHeader(hex(text));
    if (header === undefined) throw new Error("incomplete");
    return parseFrameHeader(narrowWindow(hex(text), header, decodedLength));
  };
  expect(narrowed("28b52ffd 00 88", 1000)).toMatchObject({ windowSize: 128 * 1024 });
  expect(narrowed("28b52ffd 00 88", 300_000)).toMatchObject({ windowSize: 512 * 1024 });
  expect(narrowed("28b52ffd 00 88", 2 ** 30)).toMatchObject({ windowSize: 2 ** 27 });
  expect(narrowed("28b52ffd 00 00", 10)).toMatchObject({ windowSize: 1024 });
  expect(narrowed("28b52ffd 20 20", 10)).toMatchObject({ windowSize: 32 });
});

test("limits blocks to the window and to 128 KiB", () => {
  const frame = { byteLength: 6, contentSize: undefined, singleSegment: false, hasChecksum: false };
  expect(blockLimit({ ...frame, windowSize: 1024 })).toBe(1024);
  expect(blockLimit({ ...frame, windowSize: 2 ** 27 })).toBe(128 * 1024);
});
