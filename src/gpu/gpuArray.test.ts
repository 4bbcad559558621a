import { describe, expect, it } from "vitest";
import { FakeDevice } from "./fakeDevice.testing.js";
import { gpuArray } from "./gpuArray.js";

function make({ usage = 0x8c, owned = true } = {}) {
  const device = new FakeDevice();
  const buffer = device.createBuffer({ label: "model/a", size: 16, usage });
  buffer.bytes.set([1, 0, 2, 0, 3, 0]);
  const spec = { shape: [3], dtype: "int16" } as const;
  return { device, buffer, array: gpuArray({ spec, device: device.gpu, buffer: buffer.gpu, owned }) };
}

describe("gpuArray", () => {
  it("knows its bytes and reads them into memory", async () => {
    const { array } = make();
    expect(array.byteLength).toBe(6);
    const { shape, dtype, data } = await array.read();
    expect({ shape, dtype, data }).toEqual({ shape: [3], dtype: "int16", data: Int16Array.of(1, 2, 3) });
  });

  it("reads what its buffer holds at the call, whatever comes then", async () => {
    const { array, buffer } = make();
    const reading = array.read();
    buffer.bytes.fill(9);
    array.destroy();
    expect((await reading).data).toEqual(Int16Array.of(1, 2, 3));
  });

  it("says why it cannot be read", async () => {
    const unreadable = { name: "DeviceError", reason: "validation", leaf: "model/a" };
    await expect(make({ usage: 0x88 }).array.read()).rejects.toMatchObject({ ...unreadable, message: expect.stringContaining("COPY_SRC") });
    const { array } = make();
    array.destroy();
    await expect(array.read()).rejects.toMatchObject({ ...unreadable, message: expect.stringMatching(/was destroyed; read it before/) });
    await expect(array.read({ signal: AbortSignal.abort() })).rejects.toMatchObject({ name: "AbortError" });
  });

  it("frees its buffer once, and never one of the caller's", () => {
    const { array, buffer, device } = make();
    array.destroy();
    array.destroy();
    expect(buffer.destroyed).toBe(true);
    expect(device.submits).toBe(1);
    const given = make({ owned: false });
    given.array.destroy();
    expect(given.buffer.destroyed).toBe(false);
  });
});
