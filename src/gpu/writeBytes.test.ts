import { describe, expect, it } from "vitest";
import { FakeDevice } from "./fakeDevice.testing.js";
import { writeBytes } from "./writeBytes.js";

describe("writeBytes", () => {
  it("takes a view at any byte, also of shared memory", () => {
    const device = new FakeDevice();
    const buffer = device.createBuffer({ size: 8, usage: 8 });
    const shared = new Uint8Array(new SharedArrayBuffer(8));
    shared.set([0, 1, 2, 3, 4]);
    writeBytes(device.gpu.queue, buffer.gpu, 4, shared.subarray(1, 5));
    expect([...buffer.bytes]).toEqual([0, 0, 0, 0, 1, 2, 3, 4]);
  });
});
