import { describe, expect, it } from "vitest";
import { DeviceError } from "../errors.js";
import { DeviceWatch } from "./deviceWatch.js";
import { FakeDevice, type FakeDeviceOptions } from "./fakeDevice.testing.js";

const blame = { leaf: "model/kernel", bytes: 64, doing: "making its buffer" };
const never = new Promise<never>(() => {});

function watched(options: FakeDeviceOptions = {}, signal?: AbortSignal) {
  const device = new FakeDevice(options);
  return { device, watch: new DeviceWatch(device.gpu, { signal }) };
}

describe("DeviceWatch.guard", () => {
  it("gives what the calls give and leaves no scope open", async () => {
    const { device, watch } = watched();
    expect(watch.guard(["validation", "out-of-memory"], blame, () => device.openScopes)).toBe(2);
    expect(device.openScopes).toBe(0);
    await watch.settle();
  });

  it.each([
    ["out-of-memory", "out-of-memory"],
    ["validation", "validation"],
    ["internal", "validation"],
  ] as const)("turns a report of scope %s into a DeviceError %s", async (filter, reason) => {
    const { device, watch } = watched();
    watch.guard(["validation", "internal", "out-of-memory"], blame, () => device.report(filter, "first line\nsecond"));
    const error = await watch.settle().catch((thrown) => thrown);
    expect(error).toBeInstanceOf(DeviceError);
    expect(error).toMatchObject({ reason, leaf: "model/kernel", bytes: 64 });
    expect(error.message).toMatch(/making its buffer.*: first line; \w+/);
  });

  it("fails all later calls and waits with the first failure", async () => {
    const { device, watch } = watched();
    watch.guard(["validation"], blame, () => device.report("validation", "no"));
    await expect(watch.wait(never, blame)).rejects.toMatchObject({ reason: "validation" });
    expect(() => watch.guard(["validation"], blame, () => 1)).toThrow(DeviceError);
    expect(() => watch.throwIfFailed()).toThrow(DeviceError);
  });

  it("turns what the calls throw into a DeviceError", async () => {
    const { device, watch } = watched();
    const calls = () => {
      throw new RangeError("Array buffer allocation failed");
    };
    expect(() => watch.guard(["validation"], blame, calls)).toThrow(/ran out of memory making its buffer/);
    expect(device.openScopes).toBe(0);
  });
});

describe("DeviceWatch on a lost device", () => {
  it("ends a wait for work that never ends", async () => {
    const { device, watch } = watched();
    const waiting = watch.wait(never, blame);
    device.lose("the driver crashed");
    await expect(waiting).rejects.toMatchObject({
      reason: "lost",
      message: "the GPU device was lost (unknown: the driver crashed); request a new device and start again",
    });
  });

  it("is told before errors that its loss caused", async () => {
    const { device, watch } = watched({ rejectsPopAfterLoss: true });
    const failing = watch.wait(Promise.reject(new DOMException("instance dropped", "OperationError")), blame);
    device.lose();
    await expect(failing).rejects.toMatchObject({ reason: "lost" });
    const second = watched({ rejectsPopAfterLoss: true });
    second.device.lose();
    second.watch.guard(["validation"], blame, () => {});
    await expect(second.watch.settle()).rejects.toMatchObject({ reason: "lost" });
  });

  it("means nothing to a watch that was closed", async () => {
    const { device, watch } = watched();
    watch.close();
    device.lose();
    await device.lost;
    watch.throwIfFailed();
  });
});

describe("DeviceWatch on abort", () => {
  it("throws the signal's reason, at once and while waiting", async () => {
    const controller = new AbortController();
    const { watch } = watched({}, controller.signal);
    const waiting = watch.wait(never, blame);
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    expect(() => watch.throwIfFailed()).toThrow("enough");
    expect(() => watched({}, controller.signal).watch.throwIfFailed()).toThrow("enough");
  });
});
