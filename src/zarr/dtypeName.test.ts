import { expect, test } from "vitest";
import { type Dtype, dtypes } from "../arrays/dtypes.js";
import { UnsupportedCheckpointError } from "../errors.js";
import { parseV2Dtype, parseV3Dtype } from "./dtypeName.js";

test("every dtype is read by its zarr names", () => {
  for (const dtype of Object.keys(dtypes) as Dtype[]) {
    expect(parseV2Dtype(dtypes[dtype].v2, "w/.zarray")).toEqual({ dtype, byteOrder: "little" });
    expect(parseV3Dtype(dtypes[dtype].v3, "w/zarr.json")).toBe(dtype);
  }
});

test("one-byte dtypes take any prefix", () => {
  for (const prefix of ["|", "<", ">"]) {
    expect(parseV2Dtype(`${prefix}i1`, "w/.zarray").dtype).toBe("int8");
    expect(parseV2Dtype(`${prefix}u1`, "w/.zarray").dtype).toBe("uint8");
    expect(parseV2Dtype(`${prefix}b1`, "w/.zarray").dtype).toBe("bool");
  }
});

test("a greater-than sign means big endian", () => {
  expect(parseV2Dtype(">f4", "w/.zarray")).toEqual({ dtype: "float32", byteOrder: "big" });
  expect(parseV2Dtype(">c16", "w/.zarray")).toEqual({ dtype: "complex128", byteOrder: "big" });
});

test("a larger dtype without byte order is refused with what to write instead", () => {
  expect(() => parseV2Dtype("|i2", "w/.zarray")).toThrow(UnsupportedCheckpointError);
  expect(() => parseV2Dtype("|i2", "w/.zarray")).toThrow('w/.zarray: dtype "|i2" has no byte order; it must begin with "<" or ">"');
});

test("what JAX has no dtype for is refused by name", () => {
  for (const name of [
    "<U2",
    "|S4",
    "<V2",
    "<M8[ns]",
    "|O",
    "<f16",
    "<i3",
    "<b2",
    "|f1",
    "<bfloat16",
    ">int4",
    "uint1",
    "i4",
    "",
    "constructor",
  ]) {
    expect(() => parseV2Dtype(name, "w/.zarray"), name).toThrow(UnsupportedCheckpointError);
    expect(() => parseV3Dtype(name, "w/zarr.json"), name).toThrow(JSON.stringify(name));
  }
});
