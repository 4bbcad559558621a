import { describe, expect, it, vi } from "vitest";
import { DeviceWatch } from "./deviceWatch.js";
import { DirectPlacement } from "./directPlacement.js";
import { FakeDevice } from "./fakeDevice.testing.js";
import { type GpuLeaf, gpuBufferSize, usageOf } from "./limits.js";

function open(leaf: GpuLeaf) {
  const device = new FakeDevice();
  const watch = new DeviceWatch(device.gpu);
  const buffer = device.createBuffer({ label: leaf.leaf, size: gpuBufferSize(leaf.spec), usage: usageOf(leaf) });
  const blame = { leaf: leaf.leaf, bytes: buffer.size, doing: "writing to its buffer" };
  const placement = new DirectPlacement(watch, { ...leaf, buffer: buffer.gpu }, blame, 1024);
  return { device, buffer, placement, writeBuffer: vi.spyOn(device.queue, "writeBuffer") };
}

describe("DirectPlacement", () => {
  it("hands aligned bytes of an array in one chunk over as they are, with one call", () => {
    const { device, buffer, placement, writeBuffer } = open({ leaf: "a", spec: { shape: [4, 8], dtype: "float32" } });
    const memory = new Uint8Array(256).map((_, index) => index);
    const data = memory.subarray(3, 3 + 64);
    placement.place({ origin: [0, 0], shape: [4, 8], elementOffset: 16, data });
    placement.flush();
    expect(writeBuffer.mock.calls).toEqual([[buffer, 64, memory.buffer, 3, 64]]);
    expect(buffer.bytes.subarray(64)).toEqual(data);
    expect(device.scopes).toBe(0);
  });

  it("writes the rows of a chunk, and on flush the words that still wait, in scopes of their own", () => {
    const { device, buffer, placement } = open({ leaf: "a", spec: { shape: [2, 6], dtype: "uint8" } });
    placement.place({ origin: [0, 3], shape: [2, 3], elementOffset: 0, data: Uint8Array.of(1, 2, 3, 4, 5, 6) });
    expect(device.writes).toEqual([]);
    placement.flush();
    expect(device.scopes).toBe(2);
    expect([...buffer.bytes]).toEqual([0, 0, 0, 1, 2, 3, 0, 0, 0, 4, 5, 6, 0, 0, 0, 0]);
  });

  it("leaves out what lies outside the array", () => {
    const { buffer, placement } = open({ leaf: "a", spec: { shape: [5], dtype: "uint8" } });
    placement.place({ origin: [0], shape: [8], elementOffset: 0, data: new Uint8Array(8).fill(9) });
    placement.flush();
    expect([...buffer.bytes.subarray(0, 8)]).toEqual([9, 9, 9, 9, 9, 0, 0, 0]);
  });
});
