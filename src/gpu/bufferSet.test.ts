import { describe, expect, it } from "vitest";
import { BufferSet } from "./bufferSet.js";
import { DeviceWatch } from "./deviceWatch.js";
import { FakeDevice } from "./fakeDevice.testing.js";

describe("BufferSet", () => {
  it("destroys what it made, once, and submits so that the memory is freed", () => {
    const device = new FakeDevice();
    const set = new BufferSet(new DeviceWatch(device.gpu));
    set.make({ size: 16, usage: 8 }, { leaf: "a", bytes: 16, doing: "making it" });
    set.makeUnguarded({ size: 16, usage: 8 });
    expect(device.alive).toHaveLength(2);
    set.destroy();
    set.destroy();
    expect(device.alive).toHaveLength(0);
    expect(device.submits).toBe(1);
  });
});
