import { expect, test } from "vitest";
import { CheckpointValueError } from "../errors.js";
import { type Dtype, dtypes } from "./dtypes.js";
import { hostArray, hostBytes } from "./hostArray.js";

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
