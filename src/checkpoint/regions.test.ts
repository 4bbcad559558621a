import { readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hostBytes } from "../arrays/hostArray.js";
import { type Box, elementCount } from "../arrays/spec.js";
import { CheckpointDtypeMismatchError, CheckpointValueError, DeviceError } from "../errors.js";
import { FakeDevice } from "../gpu/fakeDevice.testing.js";
import { memoryStorage } from "../storage/memory.js";
import { nodeStorage } from "../storage/node.js";
import type { ReadableStorage } from "../storage/storage.js";
import { filesOfStep, fixtureFolder } from "./fixtureSteps.testing.js";
import { handmadeStep, inlineBytes } from "./handmadeStep.testing.js";
import { openCheckpoint } from "./openCheckpoint.js";
import type { OpenedCheckpoint } from "./openedCheckpoint.js";
import type { Region } from "./restore/region.js";
import { OrbaxCheckpointStore } from "./store.js";

/** Bytes of a box of an array whose bytes are given, element by element. */
function sliceOf(bytes: Uint8Array, shape: readonly number[], { start, shape: lengths }: Box): Uint8Array {
  const itemsize = bytes.length / elementCount(shape);
  const elements = Array.from({ length: elementCount(lengths) }, (_, index) => {
    let rest = index;
    let element = 0;
    let stride = 1;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      element += ((start[axis] ?? 0) + (rest % (lengths[axis] ?? 1))) * stride;
      rest = Math.floor(rest / (lengths[axis] ?? 1));
      stride *= shape[axis] ?? 1;
    }
    return bytes.subarray(element * itemsize, (element + 1) * itemsize);
  });
  return Uint8Array.from(elements.flatMap((element) => [...element]));
}

const fractions = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })), {
  minLength: 4,
  maxLength: 4,
});

/** Some regions of a shape, among them the whole, one element and none at all. */
function regionsOf(shape: readonly number[], count: number): Region[] {
  const drawn = fc.sample(fractions, { numRuns: count, seed: 7 }).map((bounds) =>
    shape.map((length, axis): readonly [number, number] => {
      const [a = 0, b = 0] = (bounds[axis] ?? [0, 1]).map((fraction) => Math.round(fraction * length));
      return [Math.min(a, b), Math.max(a, b)];
    }),
  );
  const last = shape.map((length): readonly [number, number] => [Math.max(0, length - 1), length]);
  return [[], last, shape.map((_, axis) => (axis === 0 ? ([0, 0] as const) : null)), ...drawn];
}

/** Compares regions of all arrays of a checkpoint with the arrays read whole. */
async function compareRegions(opened: OpenedCheckpoint, count: number): Promise<number> {
  let compared = 0;
  for (const { path, shape, kind } of opened.leaves) {
    if (kind === "string" || shape === undefined) continue;
    const whole = hostBytes(await opened.read(path));
    for (const region of regionsOf(shape, count)) {
      const part = await opened.read(path, { region });
      const start = shape.map((_, axis) => region[axis]?.[0] ?? 0);
      expect(part.shape).toEqual(shape.map((length, axis) => (region[axis]?.[1] ?? length) - (start[axis] ?? 0)));
      expect(hostBytes(part), `${opened.path} ${path} ${JSON.stringify(region)}`).toEqual(
        sliceOf(whole, shape, { start, shape: part.shape }),
      );
      compared++;
    }
  }
  return compared;
}

describe("regions of arrays by real writers are the slices of the arrays", () => {
  it.each([
    ["zarr-python/2", 4, 300],
    ["zarr-python/3", 4, 300],
    ["tensorstore/zarr3", 12, 250],
  ])("that %s wrote, of every kind", async (writer, count, least) => {
    const folder = join(fixtureFolder, writer, "arrays");
    let compared = 0;
    for (const name of readdirSync(folder)) compared += await compareRegions(await openCheckpoint(nodeStorage(join(folder, name))), count);
    expect(compared).toBeGreaterThan(least);
  });

  it("that Orbax wrote from eight devices", async () => {
    const opened = await new OrbaxCheckpointStore(memoryStorage(filesOfStep("sharded", 1))).open(1);
    expect(await compareRegions(opened.items.model as OpenedCheckpoint, 12)).toBeGreaterThan(100);
  });
});

/** A storage that notes what is read of its files, apart from metadata. */
function counted(storage: ReadableStorage) {
  const reads: { readonly path: string; readonly length: number | undefined }[] = [];
  const counting: ReadableStorage = {
    list: (prefix, options) => storage.list(prefix, options),
    size: (path, options) => storage.size?.(path, options) ?? Promise.resolve(undefined),
    read: (path, options) => {
      reads.push({ path, length: options?.range?.length });
      return storage.read(path, options);
    },
  };
  return { storage: counting, reads };
}

/** A zarr v2 array of float32 in an OCDBT item, uncompressed: element i has the value i. */
function rowsOf(shape: readonly number[], chunks: readonly number[]) {
  const values = Float32Array.from({ length: elementCount(chunks) }, (_, index) => index);
  const bytes = new Uint8Array(values.buffer);
  const data = { kind: "indirect", fileId: 0, offset: 0n, length: BigInt(bytes.length) } as const;
  const chunk = shape.map(() => "0").join(".");
  return handmadeStep(
    { w: { zarray: { shape, chunks }, chunks: { [chunk]: data } } },
    { table: [{ basePath: "", relativePath: "d/0" }], files: { "1/model/d/0": bytes } },
  );
}

describe("of a chunk only what is needed is read", () => {
  it("an uncompressed one: its rows, in one read", async () => {
    const { storage, reads } = counted(memoryStorage(rowsOf([100, 50], [100, 50])));
    const { model } = (await new OrbaxCheckpointStore(storage).open(1)).items;
    reads.length = 0;
    const part = await model?.read("w", { region: [[10, 13]] });
    expect(reads).toEqual([{ path: "1/model/d/0", length: 3 * 50 * 4 }]);
    expect(part?.data).toEqual(Float32Array.from({ length: 150 }, (_, index) => 500 + index));
  });

  it("parts of rows: each by itself where much lies between them, together where little does", async () => {
    const wide = counted(memoryStorage(rowsOf([4, 40_000], [4, 40_000])));
    const opened = (await new OrbaxCheckpointStore(wide.storage).open(1)).items.model;
    wide.reads.length = 0;
    const part = await opened?.read("w", {
      region: [
        [1, 4],
        [5, 7],
      ],
    });
    expect(wide.reads.map(({ length }) => length)).toEqual([8, 8, 8]);
    expect([...(part?.data ?? [])]).toEqual([40_005, 40_006, 80_005, 80_006, 120_005, 120_006]);
    const narrow = counted(memoryStorage(rowsOf([4, 1000], [4, 1000])));
    const near = (await new OrbaxCheckpointStore(narrow.storage).open(1)).items.model;
    narrow.reads.length = 0;
    await near?.read("w", {
      region: [
        [1, 4],
        [5, 7],
      ],
    });
    expect(narrow.reads.map(({ length }) => length)).toEqual([(2 * 1000 + 2) * 4]);
  });

  it("chunks without an element of it are not read, and an empty region reads nothing", async () => {
    const { storage, reads } = counted(memoryStorage(filesOfStep("sharded", 1)));
    const opened = (await new OrbaxCheckpointStore(storage).open(1)).items.model;
    const leaf = opened?.leaves.find(({ path }) => path === "both_axes");
    expect(leaf?.chunks).toBe(8);
    reads.length = 0;
    await opened?.read("both_axes", { region: [[3, 3]] });
    expect(reads).toEqual([]);
    await opened?.read("both_axes", {
      region: [
        [0, 1],
        [0, 1],
      ],
    });
    const one = reads.reduce((sum, { length = 0 }) => sum + length, 0);
    reads.length = 0;
    await opened?.read("both_axes");
    expect(reads.reduce((sum, { length = 0 }) => sum + length, 0)).toBeGreaterThan(6 * one);
  });

  it.each([
    ["zarr-python/3/arrays/shard_end_checked", 1],
    ["zarr-python/3/arrays/shard_start_plain", 1],
    ["zarr-python/3/arrays/shard_of_shards", 2],
    ["zarr-python/3/arrays/transpose_shard_end", 1],
    ["zarr-python/3/arrays/transpose_shard_start", 1],
    ["zarr-python/3/arrays/transpose_shards_of_shards", 2],
    ["tensorstore/zarr3/arrays/transpose_shard_uncompressed", 1],
    ["tensorstore/zarr3/arrays/transpose_shard_back", 1],
    ["tensorstore/zarr3/arrays/transpose_shards_of_shards", 2],
    ["tensorstore/zarr3/arrays/shard_transpose_shard", 2],
  ])("of %s in a file of its own: the index, and one chunk", async (path, levels) => {
    const { storage, reads } = counted(nodeStorage(join(fixtureFolder, path)));
    const opened = await openCheckpoint(storage);
    reads.length = 0;
    await opened.read("", { region: opened.leaves[0]?.shape?.map(() => [0, 1] as const) ?? [] });
    const part = reads.reduce((sum, { length = Number.NaN }) => sum + length, 0);
    expect(reads.length).toBe(levels + 1);
    reads.length = 0;
    await opened.read("");
    expect(reads.every(({ length }) => length === undefined)).toBe(true);
    const size = (await storage.size?.(reads[0]?.path ?? "")) ?? 0;
    expect(part).toBeLessThan(size);
  });

  it("of an uncompressed file of its own: the rows", async () => {
    const { storage, reads } = counted(nodeStorage(join(fixtureFolder, "zarr-python", "3", "arrays", "compressor_none")));
    const opened = await openCheckpoint(storage);
    const [leaf] = opened.leaves;
    reads.length = 0;
    await opened.read("", { region: [[0, 1]] });
    expect(leaf?.shape).toHaveLength(2);
    expect(reads.every(({ length }) => length !== undefined && length < (leaf?.bytes ?? 0))).toBe(true);
  });

  it("chunks that were left out are the fill value", async () => {
    const step = handmadeStep(
      { w: { zarray: { shape: [8], fill_value: 2 }, chunks: { 1: inlineBytes(new Uint8Array(Float32Array.of(4, 5, 6, 7).buffer)) } } },
      { files: { "1/model/_METADATA": withoutAllStored } },
    );
    const { model } = (await new OrbaxCheckpointStore(memoryStorage(step)).open(1)).items;
    expect((await model?.read("w", { region: [[2, 6]] }))?.data).toEqual(Float32Array.of(2, 2, 4, 5));
  });
});

const withoutAllStored = new TextEncoder().encode(
  JSON.stringify({
    tree_metadata: {
      0: {
        key_metadata: ["tree", "w"].map((key) => ({ key, key_type: 2 })),
        value_metadata: { value_type: "jax.Array", skip_deserialize: false },
      },
    },
    use_ocdbt: true,
    store_array_data_equal_to_fill_value: false,
  }),
);

describe("read", () => {
  const store = (files = filesOfStep("digits", 1200)) => new OrbaxCheckpointStore(memoryStorage(files));

  it("puts a region onto a device, into a buffer of its own or a given one, and destroy frees its own", async () => {
    const device = new FakeDevice();
    const { model } = (await store().open(1200)).items;
    const region: Region = [
      [3, 9],
      [5, 20],
    ];
    const host = await model?.read("hidden1/kernel/value", { region });
    const array = await model?.read("hidden1/kernel/value", { region, device: device.gpu });
    expect(array).toMatchObject({ shape: [6, 15], dtype: "float32", byteLength: 360 });
    const [made] = device.buffers;
    expect(made?.label).toBe("model/hidden1/kernel/value");
    expect(made?.bytes.subarray(0, 360)).toEqual(host && hostBytes(host));
    const given = device.gpu.createBuffer({ size: 512, usage: 0x8 });
    await model?.read("hidden1/kernel/value", { region, device: device.gpu, into: given });
    model?.destroy();
    expect(device.alive).toHaveLength(1);
  });

  it("gives the data of a typed key, a Python number as an array, and any array whole", async () => {
    const { rng } = (await store(filesOfStep("trees", 3)).open(3)).items;
    const key = rng?.leaves.find(({ keyImpl }) => keyImpl !== undefined);
    expect(await rng?.read(key?.path ?? "")).toMatchObject({ dtype: "uint32", shape: key?.shape });
    const { optimizer } = (await store().open(1200)).items;
    const scalar = optimizer?.leaves.find(({ shape }) => shape?.length === 0);
    expect(await optimizer?.read(scalar?.path ?? "", { region: [] })).toMatchObject({ shape: [] });
  });

  it("counts the region's bytes as progress", async () => {
    const { model } = (await store().open(1200)).items;
    const events: (readonly [number, number])[] = [];
    await model?.read("out/kernel/value", {
      region: [[0, 2]],
      onProgress: ({ loadedBytes, totalBytes }) => events.push([loadedBytes, totalBytes]),
    });
    expect(events.at(0)).toEqual([0, 80]);
    expect(events.at(-1)).toEqual([80, 80]);
  });

  it.each<[string, string, Region, RegExp]>([
    ["a path without a leaf", "hidden9", [], /there is no such leaf; read takes the path of an array, such as "hidden1\/bias\/value"/],
    ["a region outside the array", "out/bias/value", [[0, 11]], /out\/bias\/value: a region of \[0,11\] along axis 0/],
    ["a region of too many axes", "out/bias/value", [null, null], /a region of 2 axes/],
  ])("refuses %s before anything is read", async (_, path, region, message) => {
    const { storage, reads } = counted(memoryStorage(filesOfStep("digits", 1200)));
    const { model } = (await new OrbaxCheckpointStore(storage).open(1200)).items;
    reads.length = 0;
    await expect(model?.read(path, { region })).rejects.toThrow(message);
    await expect(model?.read(path, { region })).rejects.toBeInstanceOf(CheckpointValueError);
    expect(reads).toEqual([]);
  });

  it("keeps the rules of dtypes and limits, before anything is read", async () => {
    const device = new FakeDevice({ maxBufferSize: 256 });
    const { storage, reads } = counted(memoryStorage(filesOfStep("x64", 1)));
    const { model } = (await new OrbaxCheckpointStore(storage, { device: device.gpu }).open(1)).items;
    const wide = model?.leaves.find(({ dtype, shape }) => dtype === "float64" && shape?.length === 1)?.path ?? "";
    reads.length = 0;
    await expect(model?.read(wide, { region: [[0, 1]] })).rejects.toBeInstanceOf(CheckpointDtypeMismatchError);
    expect(reads).toEqual([]);
    expect(await model?.read(wide, { region: [[0, 1]], castDtypes: true })).toMatchObject({ dtype: "float32" });
    expect(await model?.read(wide, { region: [[0, 1]], enableX64: true })).toMatchObject({ dtype: "float64" });
    const digits = (await store().open(1200)).items.model;
    await expect(digits?.read("out/kernel/value", { device: device.gpu })).rejects.toBeInstanceOf(DeviceError);
    expect(await digits?.read("out/kernel/value", { region: [[0, 4]], device: device.gpu })).toMatchObject({ byteLength: 160 });
  });

  it("stops on abort and leaves no buffer", async () => {
    const device = new FakeDevice();
    const { model } = (await store().open(1200)).items;
    const work = model?.read("out/kernel/value", { device: device.gpu, signal: AbortSignal.abort() });
    await expect(work).rejects.toThrow(/abort/i);
    expect(device.alive).toEqual([]);
  });
});
