import { expect, test } from "vitest";
import { castFrom } from "./cast.js";
import { type Dtype, dtypes } from "./dtypes.js";
import { hostArray, hostBytes } from "./hostArray.js";

/** Casts numbers that fit `from` and gives what `to` holds. */
function cast(from: Dtype, to: Dtype, values: readonly (number | bigint)[]): (number | bigint)[] {
  const source = hostArray({ shape: [values.length], dtype: from }, new Uint8Array(values.length * dtypes[from].itemsize));
  for (const [index, value] of values.entries()) (source.data as { [index: number]: number | bigint })[index] = value;
  const result = castFrom(from, to)?.(hostBytes(source));
  if (result === undefined) throw new Error(`no cast from ${from} to ${to}`);
  return [...hostArray({ shape: [values.length], dtype: to }, result).data];
}

test("floats lose their fraction and wrap in small integers, as substrax's casts do", () => {
  expect(cast("float32", "uint8", [-2.7, 300.4])).toEqual([254, 44]);
  expect(cast("float32", "int4", [300.4, 7.9, -8.9])).toEqual([-4, 7, -8]);
  expect(cast("float64", "int64", [-(2 ** 62) - 4096, 2 ** 53 + 2])).toEqual([-(2n ** 62n) - 4096n, 2n ** 53n + 2n]);
});

test("what C++ leaves undefined is what x86-64 gives", () => {
  const { NaN: nan, POSITIVE_INFINITY: infinity } = Number;
  expect(cast("float32", "int32", [nan, infinity, 3e9])).toEqual([-(2 ** 31), -(2 ** 31), -(2 ** 31)]);
  expect(cast("float32", "uint8", [nan, -3e9])).toEqual([0, 0]);
  expect(cast("float64", "uint32", [-1, 2 ** 33 + 5, nan])).toEqual([2 ** 32 - 1, 5, 0]);
  expect(cast("float64", "int64", [nan, 2 ** 63])).toEqual([-(2n ** 63n), -(2n ** 63n)]);
  expect(cast("float64", "uint64", [-1, 2 ** 63, 2 ** 64, -(2 ** 64), nan])).toEqual([2n ** 64n - 1n, 2n ** 63n, 0n, 2n ** 63n, 2n ** 63n]);
});

test("anything but zero is true, NaN too", () => {
  expect(cast("float32", "bool", [0, -0, 1e-45, Number.NaN])).toEqual([0, 0, 1, 1]);
  expect(cast("int64", "bool", [0n, 2n ** 40n])).toEqual([0, 1]);
});

test("integers wrap", () => {
  expect(cast("int64", "int8", [2n ** 40n + 129n, -1n])).toEqual([-127, -1]);
  expect(cast("int8", "uint64", [-1])).toEqual([2n ** 64n - 1n]);
  expect(cast("uint32", "int4", [9, 23])).toEqual([-7, 7]);
});

// TensorStore has neither, so nothing but NumPy's ml_dtypes says what a cast gives: these are its answers.
test("uint2 and uint4 take the low bits, as NumPy casts them", () => {
  expect(cast("float32", "uint4", [300.4, -2.7, 7.9, 15.9, 16.2, Number.NaN])).toEqual([12, 14, 7, 15, 0, 0]);
  expect(cast("float32", "uint2", [300.4, -2.7, 7.9, 15.9, 16.2, Number.NaN])).toEqual([0, 2, 3, 3, 0, 0]);
  expect(cast("int32", "uint4", [-1, 5, 17, 300])).toEqual([15, 5, 1, 12]);
  expect(cast("int64", "uint2", [-1n, 5n, 17n, 300n])).toEqual([3, 1, 1, 0]);
  expect(cast("uint4", "float32", [0, 7, 15])).toEqual([0, 7, 15]);
  expect(cast("uint4", "int4", [7, 8, 15])).toEqual([7, -8, -1]);
  expect(cast("int2", "uint4", [-2, -1, 1])).toEqual([14, 15, 1]);
  expect(cast("uint2", "int64", [0, 3])).toEqual([0n, 3n]);
  expect(cast("uint4", "bool", [0, 8])).toEqual([0, 1]);
});

test("what stands above the bits of a small integer is no part of it", () => {
  const cast3f = (from: Dtype) => castFrom(from, "int8")?.(Uint8Array.of(0x3f, 0xfe));
  expect(cast3f("uint2")).toEqual(Uint8Array.of(3, 2));
  expect(cast3f("uint4")).toEqual(Uint8Array.of(15, 14));
  expect(cast3f("int2")).toEqual(new Uint8Array(Int8Array.of(-1, -2).buffer));
});

test("float64 goes to two-byte floats through float32, to one-byte floats at once", () => {
  expect(cast("float64", "bfloat16", [1 + 2 ** -8 + 2 ** -40])).toEqual([0x3f80]);
  expect(cast("float64", "float8_e4m3fn", [2 ** -10 + 2 ** -60, 2 ** -10])).toEqual([1, 0]);
});

test("beyond the range lies infinity, or NaN where there is none", () => {
  expect(cast("int32", "float16", [70000])).toEqual([0x7c00]);
  expect(cast("float32", "float8_e4m3fn", [500, 300])).toEqual([0x7f, 0x79]);
  expect(cast("float32", "float8_e5m2", [-1e9])).toEqual([0xfc]);
});

test("complex numbers narrow, and only their real part becomes real", () => {
  const pair = new Uint8Array(new Float64Array([0.1, -1e300]).buffer);
  const narrow = castFrom("complex128", "complex64")?.(pair);
  expect(new Float32Array(narrow?.buffer ?? new ArrayBuffer(0))).toEqual(new Float32Array([0.1, Number.NEGATIVE_INFINITY]));
  expect(castFrom("complex128", "float64")?.(pair)).toEqual(pair.slice(0, 8));
  expect(castFrom("float32", "complex128")?.(new Uint8Array([0, 0, 128, 63]))).toEqual(new Uint8Array(new Float64Array([1, 0]).buffer));
});

test("pairs without a proven cast have none", () => {
  expect(castFrom("complex64", "bool")).toBeUndefined();
  expect(castFrom("float8_e8m0fnu", "float32")).toBeUndefined();
  expect(castFrom("float32", "float8_e8m0fnu")).toBeUndefined();
  expect(castFrom("float8_e8m0fnu", "float8_e8m0fnu")).toBeDefined();
});

test("the result is fresh memory, also for the same dtype, and misaligned bytes are taken", () => {
  for (const [from, to] of [
    ["float32", "float32"],
    ["complex64", "float32"],
    ["float32", "float64"],
  ] as const) {
    const bytes = new Uint8Array(17).subarray(1);
    const result = castFrom(from, to)?.(bytes);
    expect(result?.buffer).not.toBe(bytes.buffer);
    expect(result?.byteLength).toBe((bytes.byteLength / dtypes[from].itemsize) * dtypes[to].itemsize);
  }
});
