import fc from "fast-check";
import { expect, test } from "vitest";
import { CheckpointValueError } from "../errors.js";
import { type Dtype, dtypes, type HostData } from "./dtypes.js";
import { hostArray, hostBytes } from "./hostArray.js";

const float32Of = (dtype: Dtype, data: HostData): Float32Array =>
  hostArray({ shape: [data.byteLength / dtypes[dtype].itemsize], dtype }, hostBytes({ data })).toFloat32();

test("bytes are viewed, not copied, and give the dtype's own TypedArray", () => {
  for (const dtype of Object.keys(dtypes) as Dtype[]) {
    const bytes = new Uint8Array(6 * dtypes[dtype].itemsize);
    const array = hostArray({ shape: [2, 3], dtype }, bytes);
    expect(array.data).toBeInstanceOf(dtypes[dtype].host);
    expect(array.data.buffer).toBe(bytes.buffer);
    expect(hostBytes(array)).toEqual(bytes);
  }
});

test("misaligned bytes are copied", () => {
  const bytes = new Uint8Array(9);
  bytes.set(new Uint8Array(new BigInt64Array([-5n]).buffer), 1);
  const array = hostArray({ shape: [], dtype: "int64" }, bytes.subarray(1));
  expect(array.data).toEqual(new BigInt64Array([-5n]));
});

test("a wrong number of bytes is refused", () => {
  expect(() => hostArray({ shape: [3], dtype: "int16" }, new Uint8Array(5))).toThrow(CheckpointValueError);
  expect(() => hostArray({ shape: [3], dtype: "int16" }, new Uint8Array(5))).toThrow("a int16 array of shape [3] has 6 bytes, not 5");
  expect(hostArray({ shape: [3, 0], dtype: "int16" }, new ArrayBuffer(0)).data.length).toBe(0);
});

test("arrays with equal contents are deeply equal, and the dtype types the data", () => {
  const first = hostArray({ shape: [1], dtype: "float32" }, new Uint8Array([0, 0, 128, 63]));
  const data: Float32Array = first.data;
  expect(data[0]).toBe(1);
  expect(first).toEqual(hostArray({ shape: [1], dtype: "float32" }, new Uint8Array([0, 0, 128, 63])));
  expect(first).not.toEqual(hostArray({ shape: [1], dtype: "float32" }, new Uint8Array([0, 0, 0, 64])));
});

test("each real dtype gives its numbers", () => {
  const given: [Dtype, HostData, number[]][] = [
    ["bool", new Uint8Array([0, 1]), [0, 1]],
    ["int2", new Int8Array([-2, 1]), [-2, 1]],
    ["int4", new Int8Array([-8, 7]), [-8, 7]],
    ["int8", new Int8Array([-128]), [-128]],
    ["int16", new Int16Array([-32768]), [-32768]],
    ["int32", new Int32Array([16777217, -5]), [16777216, -5]],
    ["uint2", new Uint8Array([0, 3]), [0, 3]],
    ["uint4", new Uint8Array([7, 15]), [7, 15]],
    ["uint8", new Uint8Array([255]), [255]],
    ["uint16", new Uint16Array([65535]), [65535]],
    ["uint32", new Uint32Array([4294967295]), [4294967296]],
    ["float64", new Float64Array([0.1, 1e300, -0]), [Math.fround(0.1), Number.POSITIVE_INFINITY, -0]],
    ["float32", new Float32Array([1.5]), [1.5]],
    ["float16", new Uint16Array([0x3c00, 0xfc00, 0x0001, 0x8000]), [1, Number.NEGATIVE_INFINITY, 2 ** -24, -0]],
    ["bfloat16", new Uint16Array([0x3f80, 0x7f80, 0x0001]), [1, Number.POSITIVE_INFINITY, 2 ** -133]],
    ["float8_e3m4", new Uint8Array([0x30, 0x70, 0x6f]), [1, Number.POSITIVE_INFINITY, 15.5]],
    ["float8_e4m3fn", new Uint8Array([0x38, 0x7e, 0xff]), [1, 448, Number.NaN]],
    ["float8_e4m3fnuz", new Uint8Array([0x40, 0x7f, 0x80]), [1, 240, Number.NaN]],
    ["float8_e4m3b11fnuz", new Uint8Array([0x58, 0x7f, 0x80]), [1, 30, Number.NaN]],
    ["float8_e5m2", new Uint8Array([0x3c, 0x7b, 0x7c]), [1, 57344, Number.POSITIVE_INFINITY]],
    ["float8_e5m2fnuz", new Uint8Array([0x40, 0x7f, 0x80]), [1, 57344, Number.NaN]],
    ["float8_e8m0fnu", new Uint8Array([127, 0, 255]), [1, 2 ** -127, Number.NaN]],
    ["float4_e2m1fn", new Uint8Array([0x02, 0x07, 0x0f]), [1, 6, -6]],
    ["int64", new BigInt64Array([-3n]), [-3]],
    ["uint64", new BigUint64Array([2n ** 64n - 1n]), [2 ** 64]],
  ];
  for (const [dtype, data, expected] of given) expect([...float32Of(dtype, data)], dtype).toEqual(expected);
  const complex = Object.keys(dtypes).filter((name) => name.startsWith("complex"));
  expect(new Set([...given.map(([dtype]) => dtype), ...complex])).toEqual(new Set(Object.keys(dtypes)));
});

test("complex arrays are refused", () => {
  expect(() => float32Of("complex64", new Float32Array(2))).toThrow(CheckpointValueError);
});

/** Nearest float32 of an integer, ties to even, by exact arithmetic. */
function nearest(value: bigint): number {
  const magnitude = value < 0n ? -value : value;
  const shift = BigInt(Math.max(magnitude.toString(2).length - 24, 0));
  const kept = magnitude >> shift;
  const rest = magnitude - (kept << shift);
  const half = shift === 0n ? 1n : 1n << (shift - 1n);
  const up = rest > half || (rest === half && shift > 0n && (kept & 1n) === 1n) ? 1n : 0n;
  return Number((value < 0n ? -1n : 1n) * ((kept + up) << shift));
}

test("64-bit integers are rounded once, not through a double", () => {
  expect(float32Of("int64", new BigInt64Array([2n ** 62n + 2n ** 38n + 1n]))[0]).toBe(2 ** 62 + 2 ** 39);
  const bits = fc.tuple(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.nat({ max: 63 })).map(([value, shift]) => value >> BigInt(shift));
  const ties = fc
    .tuple(fc.integer({ min: 2 ** 23, max: 2 ** 24 - 1 }), fc.nat({ max: 38 }), fc.constantFrom(-1n, 0n, 1n))
    .map(([top, shift, off]) => ((BigInt(top) * 2n + 1n) << BigInt(shift)) + off);
  fc.assert(
    fc.property(fc.oneof(bits, ties), (value) => {
      const signed = BigInt.asIntN(64, value);
      expect(float32Of("uint64", new BigUint64Array([value]))[0]).toBe(nearest(value));
      expect(float32Of("int64", new BigInt64Array([signed, -signed]))).toEqual(
        new Float32Array([nearest(signed), nearest(BigInt.asIntN(64, -signed))]),
      );
    }),
    { numRuns: 2000 },
  );
});
