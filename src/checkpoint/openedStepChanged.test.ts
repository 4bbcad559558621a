import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningServer, startServer } from "../../e2e/server/server.mjs";
import { StorageError } from "../errors.js";
import { FakeDevice } from "../gpu/fakeDevice.testing.js";
import { httpStorage } from "../storage/http.js";
import { memoryStorage } from "../storage/memory.js";
import type { ReadableStorage } from "../storage/storage.js";
import { type Files, filesOfStep, fixtureFolder } from "./fixtureSteps.testing.js";
import type { OpenedStep } from "./openedStep.js";
import { restoredLeaves } from "./restoredLeaves.testing.js";
import { OrbaxCheckpointStore } from "./store.js";
import { shapeDtypeStruct } from "./template/template.js";
import { fetchOfVersion } from "./versionedFiles.testing.js";

/** Every call that reads on of an opened step, onto a device; what it gives, as leaves. */
const calls: Readonly<Record<string, (step: OpenedStep, device: GPUDevice) => Promise<unknown>>> = {
  restore: async (step, device) => (await step.restore({ device })).items,
  "restore onto a template": async (step, device) => {
    const out = { bias: { value: shapeDtypeStruct([10], "float32", { device }) } };
    return (await step.restore({ templates: { model: { out } }, missing: "skip", device })).items;
  },
  "restore of some leaves": async (step, device) => (await step.restore({ select: ["*/out/**"], device })).items,
  "restore of an item": (step, device) => step.items.model?.restore({ device }) ?? Promise.reject(),
  "read of a region": (step, device) => step.items.model?.read("out/kernel/value", { region: [[0, 2]], device }) ?? Promise.reject(),
};

const leavesOf = async (call: (typeof calls)[string], step: OpenedStep) => restoredLeaves(await call(step, new FakeDevice().gpu));

describe("on a server, where data files change since a step was opened", () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer({ root: join(fixtureFolder, "digits", "checkpoints") });
  });
  afterAll(() => server.close());

  const records = () => server.requests.filter(({ path }) => path === "/1200/metadata/metadata").length;

  /** The digits' steps, whose data files say of each answer which version they are of. */
  const versioned = (versionOf: () => number) => new OrbaxCheckpointStore(httpStorage(server.url, { fetch: fetchOfVersion(versionOf) }));

  it.each(Object.entries(calls))("%s opens it anew, once, and goes on by that", async (_, call) => {
    let version = 1;
    const step = await versioned(() => version).open(1200);
    const before = await leavesOf(call, step);
    version = 2;
    const read = records();
    expect(await leavesOf(call, step)).toEqual(before);
    expect(records() - read).toBe(1);
    expect(await leavesOf(call, step)).toEqual(before);
    expect(records() - read).toBe(1);
  });

  it("a restore's progress never falls", async () => {
    let version = 1;
    const step = await versioned(() => version).open(1200);
    const loaded: number[] = [];
    let told = 0;
    await step.restore({
      onProgress: ({ loadedBytes }) => {
        loaded.push(loadedBytes);
        if (told++ === 2) version = 2;
      },
    });
    expect(loaded).toEqual([...loaded].sort((a, b) => a - b));
  });
});

describe("on a server, where the step's folder is swapped for that of another save", () => {
  let server: RunningServer;
  let folder: string;
  const put = async (files: Files) => {
    for (const [path, bytes] of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), bytes);
    }
  };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "orbax-webgpu-swapped-"));
    server = await startServer({ root: folder });
  });
  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  it.each(Object.entries(calls))("%s reads nothing of that, and the store's restore all of it", async (_, call) => {
    const store = new OrbaxCheckpointStore(server.url);
    for (const wasRead of [false, true]) {
      await put(saved());
      const step = await store.open(1200);
      if (wasRead) await call(step, new FakeDevice().gpu);
      await rm(join(folder, "1200"), { recursive: true });
      await put(savedAnew());
      const device = new FakeDevice();
      await expect(call(step, device.gpu)).rejects.toMatchObject({ name: "StorageError", reason: "changed", path: "1200" });
      expect(device.alive).toEqual([]);
      const { items } = await store.restore(1200);
      expect(restoredLeaves(items)).toEqual(
        restoredLeaves((await new OrbaxCheckpointStore(memoryStorage(savedAnew())).restore(1200)).items),
      );
      await rm(join(folder, "1200"), { recursive: true });
    }
  });
});

/** Files that can be swapped below their reader; each opening keeps the version of each file that it saw first. */
function swappable(files: Files, beforeRead = (_path: string) => {}) {
  let now: ReadonlyMap<string, Uint8Array> = files;
  const reads: string[] = [];
  const session = (): ReadableStorage => {
    const seen = new Map<string, Uint8Array>();
    return {
      read: async (path, options) => {
        reads.push(path);
        beforeRead(path);
        const bytes = now.get(path);
        if (seen.has(path) && seen.get(path) !== bytes) throw new StorageError({ path, reason: "changed", message: "it changed" });
        if (bytes !== undefined) seen.set(path, bytes);
        return memoryStorage(now).read(path, options);
      },
      list: (prefix, options) => memoryStorage(now).list(prefix, options),
      snapshot: session,
    };
  };
  const swap = (to: ReadonlyMap<string, Uint8Array>) => {
    now = to;
  };
  return { store: new OrbaxCheckpointStore(session()), reads, swap };
}

const saved = () => filesOfStep("digits", 1200);
/** Another save in the same place. */
const savedAnew = () => new Map(Array.from(filesOfStep("digits", 800), ([path, bytes]) => [path.replace(/^800\//, "1200/"), bytes]));
/** The same save, copied there again: every file is another one. */
const copiedAgain = () => new Map(Array.from(saved(), ([path, bytes]) => [path, bytes.slice()]));

describe("in a place that keeps versions apart", () => {
  it.each(Object.entries(calls))("%s goes on where the same save was copied there again", async (_, call) => {
    const { store, swap } = swappable(saved());
    const step = await store.open(1200);
    const before = await leavesOf(call, step);
    swap(copiedAgain());
    expect(await leavesOf(call, step)).toEqual(before);
  });

  it.each(Object.entries(calls))("%s of a step that was saved anew is an error: an opened step is one save", async (_, call) => {
    for (const wasRead of [false, true]) {
      const { store, swap, reads } = swappable(saved());
      const step = await store.open(1200);
      if (wasRead) await call(step, new FakeDevice().gpu);
      swap(savedAnew());
      reads.length = 0;
      const device = new FakeDevice();
      const error = await call(step, device.gpu).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: "StorageError", reason: "changed", path: "1200" });
      expect(String(error)).toMatch(/saved anew after it was opened.*open it again/);
      expect(device.alive).toEqual([]);
      expect(reads.filter((path) => path === "1200/metadata/metadata")).toHaveLength(1);
      const { metadata } = await store.restore(1200);
      expect(metadata.createdAt).not.toBe(step.metadata.createdAt);
    }
  });

  it("nothing of another save comes where it was swapped in the midst of a restore, and no buffer stays", async () => {
    for (const readBefore of [1, 2]) {
      let left = Number.POSITIVE_INFINITY;
      const { store, swap } = swappable(saved(), (path) => {
        if (path.includes("ocdbt.process_0/d/") && left-- === 0) swap(savedAnew());
      });
      const step = await store.open(1200);
      left = readBefore;
      const device = new FakeDevice();
      await expect(step.restore({ device: device.gpu })).rejects.toMatchObject({ name: "StorageError", reason: "changed" });
      expect(left).toBeLessThan(0);
      expect(device.alive).toEqual([]);
    }
  });

  it("the store's restore gives the other save whole, where it was swapped in the midst of it", async () => {
    const expected = restoredLeaves((await new OrbaxCheckpointStore(memoryStorage(savedAnew())).restore(1200)).items);
    for (const readBefore of [0, 1, 2]) {
      let left = readBefore;
      const { store, swap } = swappable(saved(), (path) => {
        if (path.includes("ocdbt.process_0/d/") && left-- === 0) swap(savedAnew());
      });
      const device = new FakeDevice();
      const { items, metadata, destroy } = await store.restore(1200, { device: device.gpu });
      expect(left).toBeLessThan(0);
      expect(restoredLeaves(items)).toEqual(expected);
      expect(metadata).toEqual((await store.open(1200)).metadata);
      destroy();
      expect(device.alive).toEqual([]);
    }
  });

  it.each(Object.entries(calls))("%s is an error where files change again and again, and leaves no buffer", async (_, call) => {
    let isChanging = false;
    const { read, list } = memoryStorage(saved());
    const storage: ReadableStorage = {
      list,
      read: async (path, options) => {
        if (isChanging && options?.range !== undefined && path.includes("/d/"))
          throw new StorageError({ path, reason: "changed", message: "it changed" });
        return read(path, options);
      },
    };
    const step = await new OrbaxCheckpointStore(storage).open(1200);
    isChanging = true;
    const device = new FakeDevice();
    await expect(call(step, device.gpu)).rejects.toMatchObject({ name: "StorageError", reason: "changed" });
    expect(device.alive).toEqual([]);
  });

  it("a lost file stays an error that names it, after one look whether the step is another", async () => {
    const { store, swap, reads } = swappable(saved());
    const step = await store.open(1200);
    swap(new Map([...saved()].filter(([path]) => !/model\/ocdbt.process_0\/d\//.test(path))));
    reads.length = 0;
    await expect(step.items.model?.restore()).rejects.toMatchObject({ name: "CorruptCheckpointError", received: "no such file" });
    expect(reads.filter((path) => path === "1200/metadata/metadata")).toHaveLength(1);
  });

  it("a step that was removed is not found", async () => {
    const { store, swap } = swappable(saved());
    const step = await store.open(1200);
    await step.restore();
    swap(new Map());
    await expect(step.restore()).rejects.toMatchObject({ name: "CheckpointNotFoundError", step: 1200 });
  });
});

describe("in a place that can be written to", () => {
  /** Files in memory, each opening of which keeps the version of each file that it saw first. */
  function pinnedMemory(files: Files) {
    const memory = memoryStorage(files);
    const snapshot = (): ReadableStorage => {
      const seen = new Map<string, Uint8Array | undefined>();
      const read: ReadableStorage["read"] = async (path, options) => {
        const bytes = await memory.read(path);
        if (seen.has(path) && seen.get(path) !== bytes) throw new StorageError({ path, reason: "changed", message: "it changed" });
        seen.set(path, bytes);
        return memory.read(path, options);
      };
      return { ...memory, read, snapshot };
    };
    return { ...memory, snapshot };
  }

  it.each(Object.entries(calls))("%s goes on where the same files were copied there again, and not with another save", async (_, call) => {
    const storage = pinnedMemory(saved());
    const step = await new OrbaxCheckpointStore(storage).open(1200);
    const before = await leavesOf(call, step);
    for (const [path, bytes] of copiedAgain()) await storage.write(path, bytes);
    expect(await leavesOf(call, step)).toEqual(before);
    await storage.remove("1200");
    for (const [path, bytes] of savedAnew()) await storage.write(path, bytes);
    const device = new FakeDevice();
    await expect(call(step, device.gpu)).rejects.toMatchObject({ name: "CheckpointNotFoundError", step: 1200 });
    expect(device.alive).toEqual([]);
  });
});
