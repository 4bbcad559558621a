import { expect, test } from "vitest";
import type { Dtype } from "../arrays/dtypes.js";
import { hostArray } from "../arrays/hostArray.js";
import type { JsonValue } from "../bytes/json.js";
import { JsonMember } from "../bytes/jsonMember.js";
import { CorruptCheckpointError, UnsupportedCheckpointError } from "../errors.js";
import type { ByteOrder } from "./dtypeName.js";
import { parseFillValue } from "./fillValue.js";

const path = "w/.zarray";

function parse(value: JsonValue, dtype: Dtype, byteOrder: ByteOrder = "little"): Uint8Array | Promise<Uint8Array> {
  return parseFillValue({ value, member: new JsonMember(path, "fill_value", value), dtype, byteOrder, path });
}

const element = async (value: JsonValue, dtype: Dtype) => [...hostArray({ shape: [], dtype }, await parse(value, dtype)).data];

test("null is zero, in every dtype's size", async () => {
  expect(await element(null, "float32")).toEqual([0]);
  expect(await element(null, "complex128")).toEqual([0, 0]);
  expect((await parse(null, "int4")).length).toBe(1);
});

test("numbers are taken as TensorStore takes them", async () => {
  expect(await element(-5, "int8")).toEqual([-5]);
  expect(await element(2n ** 64n - 1n, "uint64")).toEqual([2n ** 64n - 1n]);
  expect(await element(-(2n ** 63n), "int64")).toEqual([-(2n ** 63n)]);
  expect(await element(8, "int4")).toEqual([-8]);
  expect([await element(15, "uint4"), await element(0x3f, "uint2")]).toEqual([[15], [3]]);
  expect(await element(1e300, "float32")).toEqual([Number.POSITIVE_INFINITY]);
  expect(await element(1.00390625, "bfloat16")).toEqual([0x3f80]);
  expect(await element(500, "float8_e4m3fn")).toEqual([0x7f]);
  expect(await element(2n ** 70n, "float64")).toEqual([2 ** 70]);
  expect(await element(true, "bool")).toEqual([1]);
  expect(await element([1, "NaN"], "complex64")).toEqual([1, Number.NaN]);
  expect(await element(0, "float8_e8m0fnu")).toEqual([0]);
});

test("numbers that JSON has no words for are strings", async () => {
  expect(await element("NaN", "float16")).toEqual([0x7e00]);
  expect(await element("-Infinity", "float64")).toEqual([Number.NEGATIVE_INFINITY]);
  expect(await element("Infinity", "bfloat16")).toEqual([0x7f80]);
});

test("base64 is the element as it is stored, hexadecimal its bits", async () => {
  expect(await element("AACAPwAAAEA=", "complex64")).toEqual([1, 2]);
  expect([...(await parse("AAAABQ==", "int32", "big"))]).toEqual([5, 0, 0, 0]);
  expect(await element("Dg==", "int4")).toEqual([-2]);
  expect(await element("0x7fc00001", "float32")).toEqual([Number.NaN]);
  expect([...(await parse("0x3f80", "bfloat16"))]).toEqual([0x80, 0x3f]);
});

test("a value that the dtype cannot hold is damage", async () => {
  const wrong: [JsonValue, Dtype][] = [
    [5.5, "int32"],
    [2 ** 31, "int32"],
    [-1, "uint8"],
    [2n ** 64n, "uint64"],
    [true, "float32"],
    [true, "int32"],
    [1, "bool"],
    ["nan", "float32"],
    ["AQAA", "int32"],
    ["!!!!", "int32"],
    [1, "complex64"],
    [[1], "complex64"],
    [{}, "float32"],
    ["Ag==", "bool"],
  ];
  for (const [value, dtype] of wrong) expect(() => parse(value, dtype), `${value} ${dtype}`).toThrow(CorruptCheckpointError);
  await expect(parse(2, "float8_e8m0fnu")).rejects.toThrow(UnsupportedCheckpointError);
});
