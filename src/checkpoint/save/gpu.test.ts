import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DeviceError } from "../../errors.js";
import { FakeDevice } from "../../gpu/fakeDevice.testing.js";
import { memoryStorage } from "../../storage/memory.js";
import { nodeStorage } from "../../storage/node.js";
import { fixtureFolder } from "../fixtureSteps.testing.js";
import { restoredLeaves, sameLeaves } from "../restoredLeaves.testing.js";
import { OrbaxCheckpointStore } from "../store.js";

const mebibyte = 1024 * 1024;

/** An array of random bytes in a buffer. */
function onDevice(device: FakeDevice, shape: readonly number[], dtype: "float32" | "uint8", seed: number) {
  const byteLength = shape.reduce((count, length) => count * length, 1) * (dtype === "uint8" ? 1 : 4);
  const buffer = device.createBuffer({ label: `${seed}`, size: Math.ceil(byteLength / 16) * 16, usage: 0x8c });
  for (let index = 0; index < byteLength; index++) buffer.bytes[index] = (index * 2_654_435_761 + seed) >>> 13;
  return { array: { shape, dtype, buffer: buffer.gpu, device: device.gpu }, bytes: buffer.bytes.subarray(0, byteLength) };
}

const read = async (store: OrbaxCheckpointStore, step: number, path: string) => {
  const { data } = (await store.restore(step)).leaf("model", path) as { readonly data: Uint8Array };
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
};

describe("a save from a device", () => {
  it.each(["dtypes", "trees", "bare"])("of the fixture %s restores to the same", async (fixture) => {
    const device = new FakeDevice();
    const source = new OrbaxCheckpointStore(nodeStorage(join(fixtureFolder, fixture, "checkpoints")));
    const restored = await source.restore(1, { device: device.gpu, enableX64: true });
    const store = new OrbaxCheckpointStore(memoryStorage());
    await store.save(1, restored.items, { like: restored });
    const [again, host] = [await store.restore(1), await source.restore(1)];
    const sorted = (items: unknown) => restoredLeaves(items).sort((a, b) => (a.path < b.path ? -1 : 1));
    expect(sameLeaves(sorted(again.items), sorted(host.items))).toBe(true);
    restored.destroy();
    expect(device.alive).toEqual([]);
  });

  it.each([
    ["none", 64],
    ["none", 1],
    ["zstd", 4],
  ] as const)(
    "with compression %s and %i MiB in flight keeps two staging buffers within them",
    async (compression, mebibytes) => {
      const device = new FakeDevice();
      const other = new FakeDevice();
      const large = onDevice(device, [3, 500_001], "uint8", 1);
      const floats = onDevice(other, [200_000], "float32", 2);
      const small = Array.from({ length: 200 }, (_, index) => onDevice(device, [index + 1], "uint8", index));
      const made = device.buffers.length;
      const store = new OrbaxCheckpointStore(memoryStorage(), { readConcurrentBytes: mebibytes * mebibyte });
      const alive: number[] = [];
      const onProgress = () =>
        alive.push(device.buffers.slice(made).reduce((bytes, { size, destroyed }) => bytes + (destroyed ? 0 : size), 0));
      const model = { large: large.array, floats: floats.array, small: small.map(({ array }) => array) };
      await store.save(1, { model }, { compression, onProgress });
      expect(Buffer.compare(await read(store, 1, "large"), large.bytes)).toBe(0);
      expect(Buffer.compare(await read(store, 1, "floats"), floats.bytes)).toBe(0);
      for (const [index, { bytes }] of small.entries()) expect(Buffer.compare(await read(store, 1, `small/${index}`), bytes)).toBe(0);
      expect(Math.max(...alive)).toBeGreaterThan(0);
      expect(Math.max(...alive)).toBeLessThanOrEqual((mebibytes * mebibyte) / 2 + 8);
      expect(device.alive.length).toBe(made);
      expect([device.openScopes, device.uncaptured]).toEqual([0, []]);
    },
    30_000,
  );

  it("says when the last byte was taken: what changes then is not in the step", async () => {
    const device = new FakeDevice();
    const { array, bytes } = onDevice(device, [1000], "float32", 1);
    const expected = Buffer.from(bytes);
    const store = new OrbaxCheckpointStore(memoryStorage());
    const saving = store.save(1, { model: array });
    await saving.taken;
    bytes.fill(0);
    await saving;
    expect(Buffer.compare(await read(store, 1, ""), expected)).toBe(0);
    const refused = store.save(1, { model: array });
    await expect(refused.taken).rejects.toMatchObject({ reason: "exists" });
    await expect(refused).rejects.toMatchObject({ reason: "exists" });
  });

  it("fails with the device, and leaves nothing", async () => {
    const device = new FakeDevice();
    const { array } = onDevice(device, [1000], "float32", 1);
    const storage = memoryStorage();
    const store = new OrbaxCheckpointStore(storage);
    array.buffer.destroy();
    const error = await store.save(1, { model: { w: array } }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(DeviceError);
    expect(error).toMatchObject({ leaf: "model/w" });
    device.lose();
    await expect(store.save(1, { model: { w: array } })).rejects.toMatchObject({ name: "DeviceError", reason: "lost" });
    expect(await storage.list("")).toEqual({ files: [], directories: [] });
  });
});
