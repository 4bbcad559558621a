import { describe, expect, it } from "vitest";
import { BufferSet } from "./bufferSet.js";
import { DeviceWatch } from "./deviceWatch.js";
import type { FakeBuffer } from "./fakeBuffer.testing.js";
import { FakeDevice } from "./fakeDevice.testing.js";
import { Scatter } from "./scatter.js";
import { ScatterPlacement } from "./scatterPlacement.js";

const spec = { shape: [2000, 7], dtype: "uint8" as const };
const matrixBytes = Uint8Array.from({ length: 14000 }, (_, index) => index % 7);

/** Columns `[at, at + width)` of a matrix whose elements are their column's number. */
const columns = (at: number, width: number) => ({
  origin: [0, at],
  shape: [2000, width],
  elementOffset: 0,
  data: Uint8Array.from({ length: 2000 * width }, (_, index) => at + (index % width)),
});

function open(usage: number, isGiven = false) {
  const device = new FakeDevice();
  const watch = new DeviceWatch(device.gpu);
  const scratch = new BufferSet(watch);
  const buffer: FakeBuffer = device.createBuffer({ label: "a", size: 16 * 1024, usage });
  buffer.bytes.fill(isGiven ? 0xff : 0);
  const leaf = { leaf: "a", spec, usage, buffer: buffer.gpu, into: isGiven ? buffer.gpu : undefined };
  const blame = { leaf: "a", bytes: buffer.size, doing: "writing to its buffer" };
  return { device, watch, buffer, placement: new ScatterPlacement(watch, new Scatter(watch, scratch), scratch, leaf, blame) };
}

describe("ScatterPlacement", () => {
  it("clears a given buffer, as far as the array reaches, before it scatters", () => {
    const { device, buffer, placement } = open(0x88, true);
    placement.place(columns(0, 4));
    placement.place(columns(4, 3));
    placement.flush();
    expect(device.uncaptured).toEqual([]);
    expect(buffer.bytes.subarray(0, 14000)).toEqual(matrixBytes);
    expect(buffer.bytes[14000]).toBe(0xff);
  });

  it("goes by way of a second buffer where shaders may not write to the first", async () => {
    const { device, watch, buffer, placement } = open(0x28);
    placement.place(columns(0, 5));
    placement.place(columns(5, 2));
    expect(buffer.bytes.every((byte) => byte === 0)).toBe(true);
    placement.flush();
    await watch.settle();
    expect(device.buffers.map(({ usage }) => usage)).toEqual([0x28, 0x84, 0x88, 0x48]);
    expect(buffer.bytes.subarray(0, 14000)).toEqual(matrixBytes);
  });
});
