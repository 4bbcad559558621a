import { expect, test } from "vitest";
import { CorruptCheckpointError } from "../errors.js";
import { isStoredAsHeld, readElements } from "./elements.js";

const place = { path: "d/1", offset: 5 };

test("big-endian numbers are turned into fresh memory, complex ones part by part", () => {
  const bytes = Uint8Array.from({ length: 16 }, (_, index) => index);
  expect([...readElements(bytes, "uint32", "big", place)]).toEqual([3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12]);
  expect([...readElements(bytes, "complex128", "big", place)]).toEqual([7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8]);
  expect([...bytes]).toEqual([...bytes].sort((a, b) => a - b));
});

test("what needs no change is not copied", () => {
  const bytes = new Uint8Array(8);
  for (const dtype of ["float32", "bool", "int64", "float8_e5m2"] as const) expect(readElements(bytes, dtype, "little", place)).toBe(bytes);
  expect(readElements(bytes, "int8", "big", place)).toBe(bytes);
});

test("sub-byte integers are extended from their own bits whatever stands above them", () => {
  const bytes = Uint8Array.of(0x0e, 0xfe, 0x7f, 0x08, 0x07, 0xf0);
  expect([...new Int8Array(readElements(bytes, "int4", "little", place).buffer)]).toEqual([-2, -2, -1, -8, 7, 0]);
  expect([...new Int8Array(readElements(bytes, "int2", "little", place).buffer)]).toEqual([-2, -2, -1, 0, -1, 0]);
  expect([...readElements(bytes, "uint4", "little", place)]).toEqual([14, 14, 15, 8, 7, 0]);
  expect([...readElements(bytes, "uint2", "little", place)]).toEqual([2, 2, 3, 0, 3, 0]);
  expect([...readElements(bytes, "float4_e2m1fn", "little", place)]).toEqual([14, 14, 15, 8, 7, 0]);
  expect(bytes[0]).toBe(0x0e);
});

test("only whole bytes in little endian, or single ones, are held as they are stored", () => {
  for (const dtype of ["bool", "int2", "int4", "uint2", "uint4", "float4_e2m1fn"] as const) {
    expect(isStoredAsHeld(dtype, "little"), dtype).toBe(false);
  }
  expect([isStoredAsHeld("float8_e5m2", "big"), isStoredAsHeld("complex64", "little")]).toEqual([true, true]);
  expect(isStoredAsHeld("complex64", "big")).toBe(false);
});

test("bool bytes other than 0 and 1 are damage", () => {
  expect(() => readElements(Uint8Array.of(0, 1, 2), "bool", "little", place)).toThrow(CorruptCheckpointError);
  expect(() => readElements(Uint8Array.of(0, 1, 2), "bool", "little", place)).toThrow("d/1 at byte 5: expected bools of bytes 0 and 1");
});
