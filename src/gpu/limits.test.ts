import { describe, expect, it } from "vitest";
import { DeviceError } from "../errors.js";
import { FakeDevice } from "./fakeDevice.testing.js";
import { checkGpuLeaves, type GpuLeaf, gpuBufferSize, gpuByteLength, requiredLimits, usageOf } from "./limits.js";

const device = new FakeDevice({ maxBufferSize: 1024, maxStorageBufferBindingSize: 512 });
const uint8 = (...shape: number[]) => ({ shape, dtype: "uint8" as const });
const check = (...leaves: GpuLeaf[]) => checkGpuLeaves(device.gpu, leaves);

function errorOf(...leaves: GpuLeaf[]): DeviceError {
  try {
    check(...leaves);
  } catch (error) {
    expect(error).toBeInstanceOf(DeviceError);
    return error as DeviceError;
  }
  throw new Error("nothing was thrown");
}

/** A buffer of the caller's, given for a leaf. */
const given = (size: number, usage = 0x8c) => new FakeDevice().createBuffer({ size, usage });

describe("gpuBufferSize", () => {
  it.each([
    [[], 16],
    [[0], 16],
    [[3, 0], 16],
    [[16], 16],
    [[17], 32],
    [[5, 7], 48],
  ])("of uint8 %j is %i", (shape, size) => {
    expect(gpuBufferSize(uint8(...shape))).toBe(size);
  });

  it("counts a byte for each int4, 16 for each complex128", () => {
    expect(gpuByteLength({ shape: [3], dtype: "int4" })).toBe(3);
    expect(gpuByteLength({ shape: [3], dtype: "complex128" })).toBe(48);
  });
});

describe("requiredLimits", () => {
  it("is never less than what every device has", () => {
    expect(requiredLimits([])).toEqual({ maxBufferSize: 2 ** 28, maxStorageBufferBindingSize: 2 ** 27 });
    expect(requiredLimits([uint8(10)])).toEqual({ maxBufferSize: 2 ** 28, maxStorageBufferBindingSize: 2 ** 27 });
  });

  it("is the largest buffer, padding included", () => {
    expect(requiredLimits([uint8(2 ** 27 + 1), uint8(3)])).toEqual({
      maxBufferSize: 2 ** 28,
      maxStorageBufferBindingSize: 2 ** 27 + 16,
    });
    expect(requiredLimits([uint8(2 ** 29)])).toEqual({ maxBufferSize: 2 ** 29, maxStorageBufferBindingSize: 2 ** 29 });
  });
});

describe("checkGpuLeaves", () => {
  it("takes what fits", () => {
    check({ leaf: "a", spec: uint8(512) }, { leaf: "b", spec: uint8(1024), usage: 0x48 }, { leaf: "c", spec: uint8(0) });
  });

  it("names the leaf over maxBufferSize, the limit and what to ask for", () => {
    const error = errorOf({ leaf: "ok", spec: uint8(8) }, { leaf: "model/big", spec: uint8(1025), usage: 0x48 });
    expect(error).toMatchObject({ reason: "limit", leaf: "model/big", bytes: 1040, limit: { name: "maxBufferSize", value: 1024 } });
    expect(error.message).toContain(`requiredLimits { maxBufferSize: ${2 ** 28}, maxStorageBufferBindingSize: ${2 ** 27} }`);
  });

  it("checks the size of a binding where shaders may bind the buffer", () => {
    expect(errorOf({ leaf: "a", spec: uint8(513) }).limit).toEqual({ name: "maxStorageBufferBindingSize", value: 512 });
  });

  it("refuses shapes beyond any buffer", () => {
    expect(errorOf({ leaf: "a", spec: uint8(2 ** 40, 2 ** 40) }).reason).toBe("limit");
  });

  it.each([0x2 | 0x4, 0x2, 0x1 | 0x80])("refuses usage %i, which WebGPU does not allow here", (usage) => {
    expect(errorOf({ leaf: "a", spec: uint8(1), usage }).reason).toBe("validation");
  });

  it("adds COPY_DST to the usage asked for", () => {
    expect(usageOf({ leaf: "a", spec: uint8(1), usage: 0x20 })).toBe(0x28);
    expect(usageOf({ leaf: "a", spec: uint8(1) })).toBe(0x8c);
  });

  it("takes a given buffer with room for the whole words, whatever the limits", () => {
    check({ leaf: "a", spec: uint8(5), into: given(8).gpu }, { leaf: "b", spec: uint8(2000), into: given(2000).gpu });
    check({ leaf: "empty", spec: uint8(0), into: given(0).gpu });
  });

  it("refuses a given buffer that is too small, mapped, without COPY_DST or given twice", () => {
    const twice = given(64).gpu;
    const mapped = given(64);
    mapped.mapState = "mapped";
    expect(errorOf({ leaf: "a", spec: uint8(5), into: given(7).gpu }).message).toContain("has 7 bytes, the array needs 8");
    expect(errorOf({ leaf: "a", spec: uint8(5), into: given(8, 0x84).gpu }).message).toContain("COPY_DST");
    expect(errorOf({ leaf: "a", spec: uint8(5), into: mapped.gpu }).message).toContain("mapped");
    const error = errorOf({ leaf: "a", spec: uint8(1), into: twice }, { leaf: "b", spec: uint8(1), into: twice });
    expect(error).toMatchObject({ leaf: "b", reason: "validation", message: expect.stringContaining("also the one given for a") });
  });
});
