import { expect, test } from "vitest";
import { ByteWriter } from "./writer.js";

test("writes integers of either byte order", () => {
  const writer = new ByteWriter();
  writer.u32be(0x0cdb3a2a);
  writer.u32le(0x80000001);
  writer.i32le(-2);
  writer.u8(255);
  writer.u64le(1n);
  expect(Buffer.from(writer.toBytes()).toString("hex")).toBe("0cdb3a2a01000080feffffffff0100000000000000");
  expect(writer.length).toBe(21);
});

test("grows at any kind of write, keeping what was there", () => {
  const writer = new ByteWriter();
  for (let i = 0; i < 300; i++) {
    writer.u8(i & 0xff);
    writer.u32le(i);
    writer.u64le(BigInt(i));
    writer.varint64(BigInt(i));
    writer.bytes(new Uint8Array(i).fill(i));
  }
  const bytes = writer.toBytes();
  expect(bytes[0]).toBe(0);
  expect(bytes.at(-1)).toBe(299 & 0xff);
  expect(bytes.length).toBe(300 * 13 + 128 + 172 * 2 + (299 * 300) / 2);
});

test.each([
  ["u8", (writer: ByteWriter) => writer.u8(256)],
  ["u8", (writer: ByteWriter) => writer.u8(-1)],
  ["u8", (writer: ByteWriter) => writer.u8(0.5)],
  ["u32le", (writer: ByteWriter) => writer.u32le(2 ** 32)],
  ["u32be", (writer: ByteWriter) => writer.u32be(Number.NaN)],
  ["i32le", (writer: ByteWriter) => writer.i32le(2 ** 31)],
  ["u64le", (writer: ByteWriter) => writer.u64le(2n ** 64n)],
  ["varint", (writer: ByteWriter) => writer.varint(2 ** 16, 16)],
  ["varint64", (writer: ByteWriter) => writer.varint64(-1n)],
])("refuses what does not fit %s", (_, write) => {
  const writer = new ByteWriter();
  expect(() => write(writer)).toThrow(RangeError);
  expect(writer.length).toBe(0);
});
