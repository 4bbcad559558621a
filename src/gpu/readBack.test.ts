import { describe, expect, it } from "vitest";
import { FakeDevice } from "./fakeDevice.testing.js";
import { readBack } from "./readBack.js";

function filled(device: FakeDevice, size: number) {
  const buffer = device.createBuffer({ label: "model/a", size, usage: 0x8c });
  for (let index = 0; index < size; index++) buffer.bytes[index] = (index * 31) >>> 3;
  return buffer;
}

describe("readBack", () => {
  it("reads without the padding and destroys its staging buffer", async () => {
    const device = new FakeDevice();
    const buffer = filled(device, 32);
    expect(await readBack(device.gpu, buffer.gpu, 21)).toEqual(buffer.bytes.slice(0, 21));
    expect(device.buffers[1]).toMatchObject({ size: 24, destroyed: true });
    expect(device.alive).toEqual([buffer]);
  });

  it("reads more than 16 MiB in pieces", async () => {
    const device = new FakeDevice();
    const buffer = filled(device, 2 ** 24 + 32);
    const bytes = await readBack(device.gpu, buffer.gpu, 2 ** 24 + 17);
    expect(Buffer.compare(bytes, buffer.bytes.subarray(0, 2 ** 24 + 17))).toBe(0);
    expect(device.buffers[1]?.size).toBe(2 ** 24);
  });

  it("touches nothing for no bytes", async () => {
    const device = new FakeDevice();
    expect(await readBack(device.gpu, filled(device, 16).gpu, 0)).toEqual(new Uint8Array(0));
    expect(device.submits).toBe(0);
  });

  it("says when the buffer was destroyed", async () => {
    const device = new FakeDevice();
    const buffer = filled(device, 16);
    buffer.destroy();
    const reading = readBack(device.gpu, buffer.gpu, 16);
    await expect(reading).rejects.toMatchObject({ name: "DeviceError", reason: "validation", leaf: "model/a" });
    expect(device.alive).toEqual([]);
  });

  it("ends when the device is lost or the signal aborts", async () => {
    const device = new FakeDevice();
    const buffer = filled(device, 16);
    device.lose();
    await expect(readBack(device.gpu, buffer.gpu, 16)).rejects.toMatchObject({ reason: "lost" });
    await expect(readBack(new FakeDevice().gpu, buffer.gpu, 16, { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
    expect(device.alive).toEqual([buffer]);
  });
});
