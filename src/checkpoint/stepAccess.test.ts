import { describe, expect, it } from "vitest";
import { defaultUsage } from "../gpu/bufferUsage.js";
import { FakeDevice } from "../gpu/fakeDevice.testing.js";
import type { DirectoryLocks } from "../storage/locks/locks.js";
import { threadLocks } from "../storage/locks/threadLocks.js";
import { memoryStorage } from "../storage/memory.js";
import type { ReadableStorage, WritableStorage } from "../storage/storage.js";
import type { ProgressEvent } from "../tasks/context.js";
import { filesOfStep } from "./fixtureSteps.testing.js";
import type { Checkpoint } from "./openedStep.js";
import { type RestoredLeaf, restoredLeaves } from "./restoredLeaves.testing.js";
import { OrbaxCheckpointStore } from "./store.js";
import { shapeDtypeStruct } from "./template/template.js";

// What a writable place is asked, while others may replace and delete the steps in it.

const saved = () => filesOfStep("digits", 1200);
/** Another save as the same step. */
const savedAnew = () => new Map(Array.from(filesOfStep("digits", 800), ([path, bytes]) => [path.replace(/^800\//, "1200/"), bytes]));
const identityFile = "1200/_CHECKPOINT_METADATA";

/** A place in memory that counts the looks at it: listings of its root, and reads of the file that tells saves apart. */
function watchedMemory(files = saved()) {
  const memory = memoryStorage(files);
  const looks = { listings: 0, identities: 0 };
  /** Runs before a file is read; how often this one was is told. */
  let beforeRead = async (_path: string, _nth: number): Promise<void> => {};
  const reads = new Map<string, number>();
  const storage = {
    ...memory,
    locks: threadLocks(),
    list: async (...call: Parameters<ReadableStorage["list"]>) => {
      if (call[0] === "") looks.listings += 1;
      return memory.list(...call);
    },
    read: async (...call: Parameters<ReadableStorage["read"]>) => {
      const [path] = call;
      if (path === identityFile) looks.identities += 1;
      const nth = (reads.get(path) ?? 0) + 1;
      reads.set(path, nth);
      await beforeRead(path, nth);
      return memory.read(...call);
    },
  };
  /** At once: nobody sees the step in between. */
  const replace = (to: ReadonlyMap<string, Uint8Array>) =>
    Promise.all([memory.remove("1200"), ...Array.from(to, ([path, bytes]) => memory.write(path, bytes))]);
  const onRead = (then: typeof beforeRead) => {
    beforeRead = then;
  };
  return { storage, looks, replace, onRead };
}

const failureOf = (work: Promise<unknown>): Promise<unknown> => work.then(() => "no error").catch((error: unknown) => error);

async function leavesOf(files: ReadonlyMap<string, Uint8Array>): Promise<RestoredLeaf[]> {
  return restoredLeaves((await new OrbaxCheckpointStore(memoryStorage(files)).restore(1200)).items);
}

const isChunk = (path: string) => path.includes("ocdbt.process_0/d/");

describe("a writable place is looked at", () => {
  const twice = { listings: 2, identities: 2 };
  it.each<[string, (store: OrbaxCheckpointStore) => Promise<unknown>, { listings: number; identities: number }]>([
    ["restore", (store) => store.restore(1200), twice],
    ["restore onto a device", (store) => store.restore(1200, { device: new FakeDevice().gpu }), twice],
    ["restore of a part", (store) => store.restore(1200, { select: ["model/out/**"] }), twice],
    ["open", (store) => store.open(1200), twice],
    ["readMetadata", (store) => store.readMetadata(1200), twice],
    ["listSteps", (store) => store.listSteps(), { listings: 1, identities: 0 }],
    ["latestStep", (store) => store.latestStep(), { listings: 1, identities: 0 }],
    ["bestStep", (store) => store.bestStep("loss"), { listings: 2, identities: 0 }],
  ])("by %s as seldom as it can be", async (_, call, expected) => {
    const { storage, looks } = watchedMemory();
    const store = new OrbaxCheckpointStore(storage);
    await call(store);
    expect(looks).toEqual(expected);
    await call(store);
    expect(looks).toEqual({ listings: 2 * expected.listings, identities: 2 * expected.identities });
  });

  it("by an opened step's restore twice", async () => {
    const { storage, looks } = watchedMemory();
    const step = await new OrbaxCheckpointStore(storage).open(1200);
    await step.restore();
    expect(looks).toEqual({ listings: 4, identities: 4 });
  });

  it("by a restore of what is not there as often, and it is not found", async () => {
    const { storage, looks } = watchedMemory();
    const device = new FakeDevice();
    await storage.remove("1200");
    const error = await failureOf(new OrbaxCheckpointStore(storage).restore(1200, { device: device.gpu }));
    expect(error).toMatchObject({ name: "CheckpointNotFoundError", step: 1200 });
    // Once more, to tell which steps there are.
    expect(looks.listings).toBeLessThanOrEqual(3);
    expect(device.buffers).toEqual([]);
  });

  it("without a second lock, which would wait behind whoever waits to tidy", async () => {
    const { storage, onRead } = watchedMemory();
    const waiting: Promise<unknown>[] = [];
    onRead(async (path) => {
      if (isChunk(path)) waiting.push(storage.locks.hold("readers", { mode: "exclusive", wait: true }, async () => "tidied"));
    });
    await new OrbaxCheckpointStore(storage).restore(1200);
    expect(waiting.length).toBeGreaterThan(0);
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => ({ value: "tidied" })));
  });
});

describe("a restore while a program without our locks", () => {
  it.each([
    ["before its last look", (path: string, nth: number) => path === identityFile && nth === 2, { madeBefore: true }],
    ["as its first chunk is read", (path: string, nth: number) => isChunk(path) && nth === 1, { madeBefore: false }],
  ])("replaces the step %s gives the new save whole, and keeps no buffer of the first", async (_, isThen, { madeBefore }) => {
    const { storage, looks, replace, onRead } = watchedMemory();
    let left = 1;
    onRead(async (path, nth) => {
      if (isThen(path, nth) && left-- === 1) await replace(savedAnew());
    });
    const device = new FakeDevice();
    const events: ProgressEvent[] = [];
    const onProgress = (event: ProgressEvent) => void events.push(event);
    const checkpoint = await new OrbaxCheckpointStore(storage).restore(1200, { device: device.gpu, onProgress });
    expect(left).toBeLessThan(1);
    expect(restoredLeaves(checkpoint.items)).toEqual(await leavesOf(savedAnew()));
    expect(looks).toEqual({ listings: 3, identities: 3 });
    const once = new FakeDevice();
    await new OrbaxCheckpointStore(memoryStorage(savedAnew())).restore(1200, { device: once.gpu });
    expect(device.alive.map(({ size }) => size)).toEqual(once.alive.map(({ size }) => size));
    expect(device.buffers.length).toBeGreaterThanOrEqual(once.buffers.length + (madeBefore ? 1 : 0));
    const loaded = events.map(({ loadedBytes }) => loadedBytes);
    expect(loaded).toEqual([...loaded].sort((a, b) => a - b));
    expect(events.at(-1)).toMatchObject({ phase: "done", loadedBytes: events[0]?.totalBytes });
    expect(events.filter(({ phase }) => phase === "done")).toHaveLength(1);
    checkpoint.destroy();
    expect(device.alive).toEqual([]);
  });

  it("replaces the step whenever it is looked at ends, says what to do, and keeps no buffer", async () => {
    const { storage, looks, replace, onRead } = watchedMemory();
    let saves = 0;
    onRead(async (path) => {
      if (path === identityFile) await replace(saves++ % 2 === 0 ? savedAnew() : saved());
    });
    const device = new FakeDevice();
    const error = await failureOf(new OrbaxCheckpointStore(storage).restore(1200, { device: device.gpu }));
    expect(error).toMatchObject({ name: "StorageError", reason: "changed", path: "1200" });
    expect(String(error)).toMatch(/step 1200 was replaced each of the 5 times that it was read.*when whoever saves it has finished/);
    expect(device.buffers.length).toBeGreaterThan(0);
    expect(device.alive).toEqual([]);
    expect(looks.identities).toBe(6);
  });

  it("deletes the step does not find it, and keeps no buffer", async () => {
    const { storage, onRead } = watchedMemory();
    onRead(async (path, nth) => {
      if (path === identityFile && nth === 2) await storage.remove("1200");
    });
    const device = new FakeDevice();
    const error = await failureOf(new OrbaxCheckpointStore(storage).restore(1200, { device: device.gpu }));
    expect(error).toMatchObject({ name: "CheckpointNotFoundError", step: 1200 });
    expect(device.buffers.length).toBeGreaterThan(0);
    expect(device.alive).toEqual([]);
  });

  it("replaces the step writes it again into the caller's buffers, and destroys none of them", async () => {
    const { storage, replace, onRead } = watchedMemory();
    onRead(async (path, nth) => {
      if (path === identityFile && nth === 2) await replace(savedAnew());
    });
    const device = new FakeDevice();
    const into = device.gpu.createBuffer({ size: 40, usage: defaultUsage });
    const model = { out: { bias: { value: shapeDtypeStruct([10], "float32", { device: device.gpu, into }) } } };
    await new OrbaxCheckpointStore(storage).restore(1200, { templates: { model }, select: ["model/out/bias/**"] });
    expect(device.alive).toEqual([into]);
    const bias = (await leavesOf(savedAnew())).find(({ path }) => path === "/model/out/bias/value");
    expect(device.alive[0]?.bytes).toEqual(bias?.bytes);
  });
});

describe("a restore that was done when its last look", () => {
  it("is aborted rejects with the reason, and keeps no buffer", async () => {
    const { storage, onRead } = watchedMemory();
    const controller = new AbortController();
    const reason = new Error("enough");
    onRead(async (path, nth) => {
      if (path === identityFile && nth === 2) controller.abort(reason);
    });
    const device = new FakeDevice();
    const restoring = new OrbaxCheckpointStore(storage).restore(1200, { device: device.gpu, signal: controller.signal });
    expect(await failureOf(restoring)).toBe(reason);
    expect(device.buffers.length).toBeGreaterThan(0);
    expect(device.alive).toEqual([]);
  });

  it("fails says why, and keeps no buffer", async () => {
    const { storage, onRead } = watchedMemory();
    onRead(async (path, nth) => {
      if (path === identityFile && nth === 2) throw new Error("the disk is gone");
    });
    const device = new FakeDevice();
    const error = await failureOf(new OrbaxCheckpointStore(storage).restore(1200, { device: device.gpu }));
    expect(error).toMatchObject({ message: "the disk is gone" });
    expect(device.buffers.length).toBeGreaterThan(0);
    expect(device.alive).toEqual([]);
  });
});

describe("a step that another process tidies", () => {
  /** A place with such a step, and what tidies it. */
  async function untidied() {
    const memory = memoryStorage();
    const place = (): WritableStorage & { readonly locks: DirectoryLocks } => ({ ...memory, locks: threadLocks() });
    const here = place();
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const reading = here.locks.hold("readers", { mode: "shared", wait: true }, () => ended);
    const store = new OrbaxCheckpointStore(here);
    await store.save(7, { model: { a: Float32Array.of(1, 2), b: Float32Array.from({ length: 5000 }, (_, index) => index) } });
    expect((await memory.list("")).directories).not.toEqual(["7"]);
    const tidy = async () => void (await new OrbaxCheckpointStore(place()).listSteps());
    const isTidy = async () => (await memory.list("")).directories.join() === "7";
    const stop = async () => {
      end();
      await reading;
    };
    return { memory, here, store, tidy, isTidy, stop };
  }

  it("between the two questions of a look stays the same save", async () => {
    const { memory, here, store, tidy, isTidy, stop } = await untidied();
    const step = await store.open(7);
    let left = 1;
    here.list = async (...call) => {
      if (left-- === 1) await tidy();
      return memory.list(...call);
    };
    expect((await step.restore()).leaf("model", "a")).toMatchObject({ data: Float32Array.of(1, 2) });
    expect(await isTidy()).toBe(true);
    await stop();
  });

  it.each<[string, (store: OrbaxCheckpointStore) => Promise<() => Promise<Checkpoint>>]>([
    ["the store's restore", async (store) => () => store.restore(7)],
    ["an opened step's restore", async (store) => (await store.open(7)).restore],
  ])("while it is read comes back whole: %s", async (_, prepare) => {
    for (const file of ["metadata/metadata", "model/manifest.ocdbt", "/d/"]) {
      const { memory, here, store, tidy, isTidy, stop } = await untidied();
      const restore = await prepare(store);
      let left = 1;
      here.read = async (path, options) => {
        if (path.includes(file) && left-- === 1) await tidy();
        return memory.read(path, options);
      };
      const { items } = await restore();
      expect(items).toMatchObject({ model: { a: { data: Float32Array.of(1, 2) }, b: { shape: [5000] } } });
      expect(await isTidy(), file).toBe(left < 1);
      await stop();
    }
  });
});
