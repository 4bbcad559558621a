import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CorruptCheckpointError } from "../errors.js";
import { ByteReader } from "./reader.js";
import { ByteWriter } from "./writer.js";

const reader = (...bytes: number[]) => new ByteReader(Uint8Array.from(bytes), { path: "manifest.ocdbt", offset: 100 });

test("reads integers of either byte order", () => {
  const cursor = reader(0x0c, 0xdb, 0x3a, 0x2a, 1, 0, 0, 0x80, 0xff, 0xff, 0xff, 0xff, 0xfe, 255, 255, 255, 255, 255, 255, 255, 255, 9);
  expect(cursor.u32be()).toBe(0x0cdb3a2a);
  expect(cursor.u32le()).toBe(0x80000001);
  expect(cursor.i32le()).toBe(-1);
  expect(cursor.u8()).toBe(0xfe);
  expect(cursor.u64le()).toBe(2n ** 64n - 1n);
  expect([cursor.position, cursor.remaining]).toEqual([21, 1]);
  expect(cursor.bytes(1)).toEqual(Uint8Array.of(9));
  expect(cursor.end()).toBeUndefined();
});

describe("varints", () => {
  test.each([
    [[0x00], 0n],
    [[0x7f], 127n],
    [[0xf0, 0x01], 240n],
    [[0x80, 0xc2, 0xd7, 0x2f], 100_000_000n],
    [[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], 2n ** 56n - 1n],
    [[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], 2n ** 64n - 1n],
  ])("reads %j", (bytes, value) => {
    expect(reader(...bytes).varint64()).toBe(value);
    if (value < 2n ** 32n) expect(reader(...bytes).varint(32)).toBe(Number(value));
    const writer = new ByteWriter();
    writer.varint64(value);
    expect([...writer.toBytes()]).toEqual(bytes);
  });

  test("accepts values that are written longer than needed, as TensorStore does", () => {
    expect(reader(0x81, 0x80, 0x00).varint64()).toBe(1n);
    expect(reader(0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00).varint64()).toBe(1n);
    expect(reader(0x81, 0x80, 0x80, 0x80, 0x00).varint(16)).toBe(1);
  });

  test.each([
    ["64 bits, of eleven bytes", () => reader(...new Array<number>(10).fill(0x80), 0).varint64()],
    ["64 bits, above the largest", () => reader(...new Array<number>(9).fill(0xff), 2).varint64()],
    ["32 bits, of six bytes", () => reader(0x80, 0x80, 0x80, 0x80, 0x80, 0).varint(32)],
    ["32 bits, above the largest", () => reader(0xff, 0xff, 0xff, 0xff, 0x10).varint(32)],
    ["16 bits, above the largest", () => reader(0x80, 0x80, 0x04).varint(16)],
    ["64 bits, cut short", () => reader(0x80, 0x80).varint64()],
  ])("refuses %s", (_, read) => {
    expect(read).toThrow(CorruptCheckpointError);
  });

  test("come back from the writer", () => {
    const check = (value: bigint) => {
      const writer = new ByteWriter();
      writer.varint64(value);
      if (value < 2n ** 32n) writer.varint(Number(value), 32);
      const cursor = new ByteReader(writer.toBytes(), { path: "", offset: 0 });
      expect(cursor.varint64()).toBe(value);
      if (value < 2n ** 32n) expect(cursor.varint(32)).toBe(Number(value));
      cursor.end();
    };
    fc.assert(fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), check));
    for (let bits = 0n; bits <= 63n; bits++) for (const value of [2n ** bits - 1n, 2n ** bits, 2n ** bits + 1n]) check(value);
  });
});

describe("errors", () => {
  test("name the file and the offset in it", () => {
    const cursor = reader(1, 2, 3);
    cursor.u8();
    expect(() => cursor.u32le()).toThrow("manifest.ocdbt at byte 101: expected 4 bytes, received the end after 2");
    expect(cursor.position).toBe(1);
  });

  test("name the decompressed byte where the file's offset is that of the record", () => {
    const cursor = new ByteReader(Uint8Array.of(1), { path: "d/0", offset: 7, decompressed: true });
    cursor.u8();
    expect(() => cursor.u8()).toThrow("d/0 at byte 7: expected 1 bytes (decompressed byte 1), received the end after 0");
  });

  test("bound counts before anything is allocated", () => {
    const cursor = reader(1, 2, 3, 4);
    expect(cursor.checkCount(2n, "things", 10, 2)).toBe(2);
    expect(() => cursor.checkCount(2n ** 63n, "things", 10, 0)).toThrow("expected at most 10 things");
    expect(() => cursor.checkCount(3, "things", 10, 2)).toThrow("expected bytes for 3 things, received 4 bytes");
  });

  test("tell what is left at the end", () => {
    expect(() => reader(1, 2).end()).toThrow("expected the end, received 2 more bytes");
  });
});
