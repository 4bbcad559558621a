import { describe, expect, it } from "vitest";
import { DeviceWatch } from "./deviceWatch.js";
import { FakeDevice, type FakeDeviceOptions } from "./fakeDevice.testing.js";
import { SendWindow } from "./sendWindow.js";

const blame = { leaf: "a", bytes: 16, doing: "writing" };

function open(options: FakeDeviceOptions = {}) {
  const device = new FakeDevice(options);
  const watch = new DeviceWatch(device.gpu);
  return { device, watch, window: new SendWindow(watch, 96) };
}

describe("SendWindow", () => {
  it("lets through what fits, and more when the device has taken it", async () => {
    const { device, window } = open();
    let sent = 0;
    for (let count = 0; count < 20; count++) await window.send(48, blame, () => sent++);
    expect(sent).toBe(20);
    expect(device.submits).toBe(20);
  });

  it("sends at once, without a promise, where there is room", () => {
    const { window } = open();
    const sent: number[] = [];
    expect(window.send(48, blame, () => sent.push(1))).toBeUndefined();
    expect(window.send(48, blame, () => sent.push(2))).toBeUndefined();
    expect(window.send(48, blame, () => sent.push(3))).toBeInstanceOf(Promise);
    expect(sent).toEqual([1, 2]);
  });

  it("sends in the order it was asked to, though a short one would fit", async () => {
    const { window } = open();
    const sent: number[] = [];
    await Promise.all([40, 40, 40, 8, 40].map((bytes, index) => window.send(bytes, blame, () => sent.push(index))));
    expect(sent).toEqual([0, 1, 2, 3, 4]);
  });

  it("throws what failed the watch", () => {
    const { watch, window } = open();
    watch.fail(new Error("failed before"));
    expect(() => window.send(8, blame, () => {})).toThrow("failed before");
  });

  it("holds back while the device has taken nothing, and ends when it is lost", async () => {
    const { device, window } = open({ hangs: true });
    let sent = 0;
    const sending = Array.from({ length: 5 }, () => window.send(40, blame, () => sent++));
    await new Promise((resolve) => setTimeout(resolve));
    expect(sent).toBe(2);
    device.lose();
    const outcomes = await Promise.allSettled(sending);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "rejected", "rejected"]);
    expect(sent).toBe(2);
  });

  it("submits once half the window was sent", async () => {
    const { device, window } = open();
    await window.send(47, blame, () => {});
    expect(device.submits).toBe(0);
    await window.send(1, blame, () => {});
    expect(device.submits).toBe(1);
  });

  it("drains", async () => {
    await open().window.drain(blame);
    const { device, window } = open({ hangs: true });
    const draining = window.drain(blame);
    device.lose();
    await expect(draining).rejects.toMatchObject({ reason: "lost" });
  });
});
