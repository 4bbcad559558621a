import { describe, expect, it } from "vitest";
import { BufferSet } from "./bufferSet.js";
import { DeviceWatch } from "./deviceWatch.js";
import { FakeDevice, type FakeDeviceOptions } from "./fakeDevice.testing.js";
import { LeafBuffers, probeGivenBuffers } from "./leafBuffers.js";
import type { GpuLeaf } from "./limits.js";

function create(leaves: readonly GpuLeaf[], options: FakeDeviceOptions = {}) {
  const device = new FakeDevice(options);
  const watch = new DeviceWatch(device.gpu);
  const buffers = new LeafBuffers(watch, new BufferSet(watch), leaves);
  const created = probeGivenBuffers(watch, leaves).then(() => buffers.all());
  return { device, created, answered: () => created.then(() => watch.settle()) };
}

const leaf = (name: string, ...shape: number[]): GpuLeaf => ({ leaf: name, spec: { shape, dtype: "uint8" } });

describe("LeafBuffers", () => {
  it("makes buffers with the leaves' names, sizes and usages, in order", async () => {
    const { created } = create([leaf("model/a", 5), { ...leaf("model/b", 0), usage: 0x20 }]);
    expect(await created).toMatchObject([
      { leaf: "model/a", buffer: { label: "model/a", size: 16, usage: 0x8c } },
      { leaf: "model/b", buffer: { label: "model/b", size: 16, usage: 0x28 } },
    ]);
  });

  it("takes given buffers and makes none for them", async () => {
    const into = new FakeDevice().createBuffer({ size: 16, usage: 8 }).gpu;
    const { device, created } = create([leaf("a", 5), { ...leaf("b", 5), into }]);
    expect((await created)[1]?.buffer).toBe(into);
    expect(device.buffers).toHaveLength(1);
  });

  it("asks the device about given buffers before it makes one", async () => {
    const into = new FakeDevice().createBuffer({ size: 16, usage: 8 });
    into.destroy();
    const { device, created } = create([leaf("a", 5), { ...leaf("b", 5), into: into.gpu }]);
    await expect(created).rejects.toMatchObject({ reason: "validation", leaf: "b", message: expect.stringContaining("into") });
    expect(device.buffers).toHaveLength(0);
  });

  it("names the one large leaf that has no room", async () => {
    const size = 20 * 1024 * 1024;
    const onCreate = (index: number) => (index === 1 ? ("out-of-memory" as const) : undefined);
    const { answered } = create([leaf("a", size), leaf("b", size), leaf("c", 1)], { onCreate });
    await expect(answered()).rejects.toMatchObject({ reason: "out-of-memory", leaf: "b", bytes: size });
  });

  it("names the largest of small leaves that were made together", async () => {
    const onCreate = (index: number) => (index === 2 ? ("out-of-memory" as const) : undefined);
    const { answered } = create([leaf("a", 1), leaf("b", 99), leaf("c", 1)], { onCreate });
    await expect(answered()).rejects.toMatchObject({ leaf: "b", message: expect.stringContaining("or one of the 2 made with it") });
  });

  it("asks for all at once, a pair of error scopes for up to 64 small ones, and does not wait for the device", async () => {
    const leaves = Array.from({ length: 130 }, (_, index) => leaf(`leaf ${index}`, 16));
    const { device, created } = create([...leaves, leaf("large", 20 * 1024 * 1024), leaf("last", 16)]);
    expect(device.buffers).toHaveLength(0);
    expect(await created).toHaveLength(132);
    expect(device.scopes).toBe(2 * 5);
  });

  it("makes a buffer when it is needed, and those of its batch", async () => {
    const device = new FakeDevice();
    const watch = new DeviceWatch(device.gpu);
    const large = 10 * 1024 * 1024;
    const buffers = new LeafBuffers(watch, new BufferSet(watch), [leaf("a", 1), leaf("b", 1), leaf("c", large), leaf("d", large)]);
    expect(device.buffers).toHaveLength(0);
    expect(buffers.held(3)?.leaf).toBe("d");
    expect(device.buffers.map(({ label }) => label)).toEqual(["d"]);
    expect(buffers.held(1)).toMatchObject({ leaf: "b", buffer: { label: "b" } });
    expect(device.buffers).toHaveLength(4);
    expect(buffers.held(0)?.buffer).toBe(buffers.all()[0]?.buffer);
    expect(buffers.held(4)).toBeUndefined();
    expect(device.buffers).toHaveLength(4);
  });
});
