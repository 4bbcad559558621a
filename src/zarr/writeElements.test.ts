import { expect, test } from "vitest";
import type { Dtype } from "../arrays/dtypes.js";
import { readElements } from "./elements.js";
import { writeElements } from "./writeElements.js";

const place = { path: "w/0", offset: 0 };
const codes = Uint8Array.from({ length: 256 }, (_, code) => code);

test("int2, int4 and float4 keep their own bits only, as TensorStore stores them", () => {
  expect(writeElements(Uint8Array.of(0xfe, 0x01, 0xff), "int2")).toEqual(Uint8Array.of(2, 1, 3));
  expect(writeElements(Uint8Array.of(0xf8, 0xff, 0x07), "int4")).toEqual(Uint8Array.of(8, 0x0f, 7));
  expect(writeElements(Uint8Array.of(0xf8, 0x0f), "float4_e2m1fn")).toEqual(Uint8Array.of(8, 0x0f));
});

test("bools become 0 and 1, which alone can be read", () => {
  const stored = writeElements(codes, "bool");
  expect(stored).toEqual(Uint8Array.from(codes, (code) => Math.min(code, 1)));
  expect(readElements(stored, "bool", "little", place)).toBe(stored);
});

test.each<Dtype>(["int2", "int4", "uint2", "uint4", "float4_e2m1fn", "int8", "float8_e4m3fn", "bfloat16", "complex128"])(
  "%s comes back as memory held it",
  (dtype) => {
    const inMemory = readElements(codes, dtype, "little", place);
    const stored = writeElements(inMemory, dtype);
    expect(readElements(stored, dtype, "little", place)).toEqual(inMemory);
  },
);

test("what is stored as it is is not copied, and nothing is written into", () => {
  expect(writeElements(codes, "float32")).toBe(codes);
  const given = Uint8Array.of(0xff);
  for (const dtype of ["int4", "bool"] as const) writeElements(given, dtype);
  expect(given).toEqual(Uint8Array.of(0xff));
});
