import { describe, expect, it } from "vitest";
import { type Block, elementCount } from "../arrays/spec.js";
import { BufferSet } from "./bufferSet.js";
import { DeviceWatch } from "./deviceWatch.js";
import { FakeDevice } from "./fakeDevice.testing.js";
import { LeafUpload } from "./leafUpload.js";
import { type GpuLeaf, gpuBufferSize, usageOf } from "./limits.js";
import { Scatter } from "./scatter.js";
import { SendWindow } from "./sendWindow.js";

function open(leaf: GpuLeaf, windowBytes = 1024 * 1024) {
  const device = new FakeDevice();
  const watch = new DeviceWatch(device.gpu);
  const scratch = new BufferSet(watch);
  const window = new SendWindow(watch, windowBytes);
  const buffer = device.createBuffer({ label: leaf.leaf, size: gpuBufferSize(leaf.spec), usage: usageOf(leaf) });
  const upload = new LeafUpload({ watch, window, scratch, scatter: new Scatter(watch, scratch) }, { ...leaf, buffer: buffer.gpu });
  return { device, buffer, upload };
}

/** Places a block without a window. */
function place(upload: LeafUpload, block: Block): void {
  for (const piece of upload.piecesOf(block)) upload.placementOf(block).place(piece);
}

/** Columns `[at, at + width)` of a matrix of bytes whose elements are their column's number. */
function columns(spec: { readonly shape: readonly number[] }, at: number, width: number) {
  const shape = [spec.shape[0] ?? 0, width];
  return {
    origin: [0, at],
    shape,
    elementOffset: 0,
    data: Uint8Array.from({ length: elementCount(shape) }, (_, index) => at + (index % width)),
  };
}

const matrix = { shape: [2000, 7], dtype: "uint8" as const };
const matrixBytes = Uint8Array.from({ length: 14000 }, (_, index) => index % 7);

describe("LeafUpload", () => {
  it("writes a contiguous chunk in pieces of half the window", () => {
    const { device, buffer, upload } = open({ leaf: "a", spec: { shape: [1001], dtype: "uint8" } }, 512);
    const data = Uint8Array.from({ length: 1001 }, (_, index) => index);
    place(upload, { origin: [0], shape: [1001], elementOffset: 0, data });
    upload.flush();
    expect(device.writes.map(({ byteLength }) => byteLength)).toEqual([256, 256, 256, 232, 4]);
    expect(device.dispatches).toBe(0);
    expect(buffer.bytes.subarray(0, 1001)).toEqual(data);
    expect([...buffer.bytes.subarray(1001)]).toEqual(Array.from({ length: 7 }, () => 0));
  });

  it("writes few rows one by one", () => {
    const { device, buffer, upload } = open({ leaf: "a", spec: { shape: [3, 7], dtype: "uint8" } });
    place(upload, columns({ shape: [3, 7] }, 4, 3));
    place(upload, columns({ shape: [3, 7] }, 0, 4));
    upload.flush();
    expect(device.dispatches).toBe(0);
    expect(buffer.bytes.subarray(0, 21)).toEqual(matrixBytes.subarray(0, 21));
  });

  it("scatters many short rows with the shader", () => {
    const { device, buffer, upload } = open({ leaf: "a", spec: matrix });
    place(upload, columns(matrix, 3, 3));
    place(upload, columns(matrix, 6, 1));
    place(upload, columns(matrix, 0, 3));
    upload.flush();
    expect(device.dispatches).toBe(3);
    expect(device.writes.every(({ label }) => label !== "a")).toBe(true);
    expect(buffer.bytes.subarray(0, 14000)).toEqual(matrixBytes);
  });

  it("writes 16-byte elements and blocks that end anywhere", () => {
    const { buffer, upload } = open({ leaf: "a", spec: { shape: [5], dtype: "complex128" } }, 64);
    const data = Uint8Array.from({ length: 80 }, (_, index) => index + 1);
    const block = { origin: [0], shape: [5], elementOffset: 0, data };
    place(upload, { ...block, elementOffset: 3, data: data.subarray(48) });
    place(upload, { ...block, data: data.subarray(0, 48) });
    upload.flush();
    expect(buffer.bytes).toEqual(data);
  });
});
