import { describe, expect, it } from "vitest";
import { hostArray } from "../../arrays/hostArray.js";
import { CheckpointValueError } from "../../errors.js";
import { shapeDtypeStruct, templateLeaf } from "./template.js";
import { templateOf } from "./templateOf.js";

const device = {} as GPUDevice;
const buffer = { size: 16, usage: 140 } as GPUBuffer;
const onGpu = { shape: [2], dtype: "float32" as const, buffer, device, byteLength: 8 };

describe("shapeDtypeStruct", () => {
  it("keeps shape, dtype and placement", () => {
    expect(shapeDtypeStruct([2, 3], "bfloat16", { device, usage: 8 })).toMatchObject({
      shape: [2, 3],
      dtype: "bfloat16",
      device,
      usage: 8,
    });
  });

  it.each([[[-1]], [[1.5]], [["2"]], ["2"], [null], [[2n]]])("refuses the shape %s", (shape) => {
    expect(() => shapeDtypeStruct(shape as number[], "float32")).toThrow(CheckpointValueError);
  });

  it("refuses an unknown dtype", () => {
    expect(() => shapeDtypeStruct([1], "float" as "float32")).toThrow(/JAX name/);
    expect(() => shapeDtypeStruct([1], "toString" as "float32")).toThrow(CheckpointValueError);
  });
});

describe("templateLeaf", () => {
  it.each([
    ["a struct", shapeDtypeStruct([2], "int8"), { kind: "array", shape: [2], dtype: "int8", place: "default" }],
    ["a struct with a device", shapeDtypeStruct([2], "int8", { device, into: buffer }), { kind: "array", place: device, into: buffer }],
    ["a GpuArray", onGpu, { kind: "array", shape: [2], dtype: "float32", place: device, usage: 140, into: undefined }],
    ["a HostArray", hostArray({ shape: [1], dtype: "bfloat16" }, new Uint8Array(2)), { kind: "array", dtype: "bfloat16", place: "memory" }],
    ["its members", { shape: [1], dtype: "bool", data: new Uint8Array(1) }, { kind: "array", dtype: "bool", place: "memory" }],
    ["a Float32Array", new Float32Array(3), { kind: "array", shape: [3], dtype: "float32", place: "memory" }],
    ["a BigInt64Array", new BigInt64Array(3), { kind: "array", shape: [3], dtype: "int64", place: "memory" }],
    ["a Uint8ClampedArray", new Uint8ClampedArray(3), { kind: "array", dtype: "uint8" }],
    ["a key", { impl: "rbg", data: new Uint32Array(4) }, { kind: "key", impl: "rbg", data: { shape: [4], dtype: "uint32" } }],
    ["a number", 1, { kind: "plain", value: 1 }],
    ["an empty string", "", { kind: "plain", value: "" }],
    ["a complex number", { re: 1, im: 2 }, { kind: "plain" }],
  ])("knows %s", (_, value, leaf) => {
    expect(templateLeaf(value)).toMatchObject(leaf);
  });

  it.each([[null], [undefined], [{}], [[]], [{ a: 1 }], [{ impl: "rbg" }], [{ re: 1 }], [{ shape: [1], dtype: "float32" }]])(
    "takes %j for no leaf",
    (value) => {
      expect(templateLeaf(value)).toBeUndefined();
    },
  );

  it("refuses what looks like an array of no dtype, and a DataView", () => {
    expect(() => templateLeaf({ shape: [1], dtype: "float", data: new Float32Array(1) })).toThrow(CheckpointValueError);
    expect(() => templateLeaf(new DataView(new ArrayBuffer(1)))).toThrow(/a DataView is no template/);
  });

  it("refuses what would pass for an empty container", () => {
    for (const value of [new Map([["w", 1]]), new Set([1]), Promise.resolve({}), new Date(0), new ArrayBuffer(4)])
      expect(() => templateLeaf(value)).toThrow(
        /^an? \w+ is no template; use a TypedArray or shapeDtypeStruct\(shape, dtype\), in plain objects/,
      );
    expect(() => templateLeaf(new ArrayBuffer(4))).toThrow(/^an ArrayBuffer/);
  });
});

describe("templateOf", () => {
  it("makes structs of arrays, with the device and usage of those on a GPU", () => {
    const tree = templateOf({ a: onGpu, b: [new Int32Array(2), 5, null], k: { impl: "rbg", data: new Uint32Array(4) } });
    expect(tree).toMatchObject({
      a: { shape: [2], dtype: "float32", device, usage: 140 },
      b: [{ shape: [2], dtype: "int32" }, 5, null],
      k: { impl: "rbg", data: { shape: [4], dtype: "uint32" } },
    });
    expect(templateLeaf(tree.b[0])).toMatchObject({ place: "default" });
    expect(templateLeaf(tree.k)).toMatchObject({ kind: "key", impl: "rbg" });
  });

  it("refuses a tree that holds itself", () => {
    const tree: Record<string, unknown> = {};
    tree.self = [tree];
    expect(() => templateOf(tree)).toThrow(CheckpointValueError);
  });
});
