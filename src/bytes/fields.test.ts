import { expect, test } from "vitest";
import { CorruptCheckpointError } from "../errors.js";
import { column, columns, type Field, i32le, oneOf, only, rawBytes, record, u8, u64le, varint16, varint32, varint64 } from "./fields.js";
import { ByteReader } from "./reader.js";
import { ByteWriter } from "./writer.js";

function write<Value>(field: Field<Value>, value: Value): string {
  const writer = new ByteWriter();
  field.write(writer, value);
  return Buffer.from(writer.toBytes()).toString("hex");
}

function read<Value>(field: Field<Value>, hex: string): Value {
  const reader = new ByteReader(Uint8Array.from(Buffer.from(hex, "hex")), { path: "file", offset: 0 });
  const value = field.read(reader);
  reader.end();
  return value;
}

function checkBoth<Value>(field: Field<Value>, value: Value, hex: string): void {
  expect(write(field, value)).toBe(hex);
  expect(read(field, hex)).toEqual(value);
}

test("one field, both directions", () => {
  checkBoth(u8, 200, "c8");
  checkBoth(i32le, -1, "ffffffff");
  checkBoth(u64le, 1n, "0100000000000000");
  checkBoth(varint16, 65535, "ffff03");
  checkBoth(varint32, 128, "8001");
  checkBoth(varint64, 2n ** 63n, "80808080808080808001");
  checkBoth(rawBytes(3), Uint8Array.of(1, 2, 3), "010203");
});

test("records store their members in the order they are described in", () => {
  checkBoth(record<{ small: number; large: bigint }>({ large: varint64, small: u8 }), { small: 7, large: 300n }, "ac0207");
});

test("columns store a member of all rows before the next", () => {
  checkBoth(column(u8, 3), [1, 2, 3], "010203");
  const rows = [
    { id: 1, offset: 300n },
    { id: 2, offset: 4n },
  ];
  checkBoth(columns<{ id: number; offset: bigint }>({ id: u8, offset: varint64 }, 2), rows, "0102ac0204");
  checkBoth(columns<{ id: number }>({ id: u8 }, 0), [], "");
});

test("words stand for their index", () => {
  const field = oneOf(u8, ["inline", "indirect"]);
  checkBoth(field, "indirect", "01");
  expect(() => read(field, "02")).toThrow("expected 0 (inline) or 1 (indirect), received 2");
});

test("a restricted field refuses other values both ways", () => {
  const field = only(u8, "an even number", (value) => value % 2 === 0);
  checkBoth(field, 4, "04");
  expect(() => read(field, "05")).toThrow(CorruptCheckpointError);
  expect(() => write(field, 5)).toThrow(RangeError);
});

test("lengths that do not fit are refused", () => {
  expect(() => write(rawBytes(2), Uint8Array.of(1))).toThrow(RangeError);
  expect(() => write(column(u8, 2), [1])).toThrow(RangeError);
  expect(() => read(column(u8, 2), "01")).toThrow(CorruptCheckpointError);
});

test("what was read does not hold the file", () => {
  const file = Uint8Array.of(1, 2, 3, 4);
  const bytes = rawBytes(2).read(new ByteReader(file, { path: "file", offset: 0 }));
  file.fill(0);
  expect(bytes).toEqual(Uint8Array.of(1, 2));
});
