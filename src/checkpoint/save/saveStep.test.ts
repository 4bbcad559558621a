import { describe, expect, it } from "vitest";
import { CheckpointNotFoundError, CheckpointNotWrittenError, CheckpointValueError, StorageError } from "../../errors.js";
import { memoryStorage } from "../../storage/memory.js";
import type { WritableStorage } from "../../storage/storage.js";
import type { ProgressEvent } from "../../tasks/context.js";
import { OrbaxCheckpointStore } from "../store.js";
import { filesOf } from "./faultyStorage.testing.js";

const w = (value: number) => ({ model: { w: Float32Array.of(value, 2) } });

const failureOf = (work: Promise<unknown>): Promise<unknown> => work.then(() => "no error").catch((error: unknown) => error);

const emptyStore = (maxToKeep: number | null = null) => {
  const storage = memoryStorage();
  return { storage, store: new OrbaxCheckpointStore(storage, { maxToKeep }) };
};

const firstOf = async (store: OrbaxCheckpointStore<undefined, WritableStorage>, step: number) =>
  ((await store.restore(step)).leaf("model", "w") as { readonly data: Float32Array }).data[0];

/** A store that somebody is reading from until `end`. */
async function beingRead(store: OrbaxCheckpointStore<undefined, WritableStorage>, storage: WritableStorage, step: number) {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const { read } = storage;
  let begun = () => {};
  const hasBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  Object.assign(storage, {
    read: async (...args: Parameters<WritableStorage["read"]>) => {
      begun();
      await ended;
      return read(...args);
    },
  });
  const reading = store.restore(step);
  await hasBegun;
  Object.assign(storage, { read });
  return { reading, end };
}

describe("what save refuses, before anything is touched (substrax-behaviour 2)", () => {
  const items = w(1);
  it.each<[string, (store: OrbaxCheckpointStore<undefined, WritableStorage>) => Promise<unknown>, RegExp]>([
    ["a negative step", (store) => store.save(-1, items), /non-negative integer/],
    ["a fraction", (store) => store.save(1.5, items), /non-negative integer/],
    ["a boolean step", (store) => store.save(true as never, items), /non-negative integer/],
    ["text as step", (store) => store.save("5" as never, items), /non-negative integer/],
    ["a step above 2^53 - 1", (store) => store.save(2 ** 53, items), /2\^53/],
    ["no items", (store) => store.save(1, {}), /at least one item/],
    ["other items", (store) => store.save(1, { ...items, metadata: 1, foo: 2 } as never), /\["foo","metadata"\].*"data_iterator"/],
    ["reserved names in extra", (store) => store.save(1, items, { extra: { step: 1, format: 2, mine: 3 } }), /\["format","step"\]/],
    ["extra that is no JSON", (store) => store.save(1, items, { extra: { a: [new Set()] } as never }), /extra\.a\.0 is no JSON/],
    ["metrics that are no numbers", (store) => store.save(1, items, { metrics: { a: 1, b: "1.5" } as never }), /"b" are not/],
    ["a fraction as epoch", (store) => store.save(1, items, { epoch: 1.5 }), /epoch is an integer or null/],
    ["a boolean epoch", (store) => store.save(1, items, { epoch: true as never }), /epoch is an integer or null/],
    ["a producer without a version", (store) => store.save(1, items, { producer: { name: "p" } as never }), /producer is/],
    ["another compression", (store) => store.save(1, items, { compression: "gzip" as never }), /compression is/],
    ["another ifLocked", (store) => store.save(1, items, { ifLocked: "never" as never }), /ifLocked is/],
    ["a copy as like", (store) => store.save(1, items, { like: { step: 1, items: {} } }), /like is a checkpoint/],
  ])("%s", async (_, save, message) => {
    const { storage, store } = emptyStore();
    const error = await failureOf(save(store));
    expect(error).toBeInstanceOf(CheckpointValueError);
    expect(String(error)).toMatch(message);
    expect(await storage.list("")).toEqual({ files: [], directories: [] });
  });

  it("a step that exists or lies below the latest, and a directory that is read only", async () => {
    const { store } = emptyStore();
    await store.save(5, w(5));
    await store.save(7, w(7));
    const notWritten = async (work: Promise<unknown>) => {
      const error = await failureOf(work);
      expect(error).toBeInstanceOf(CheckpointNotWrittenError);
      const { step, latestStep, reason } = error as CheckpointNotWrittenError;
      return [step, latestStep, reason];
    };
    expect(await notWritten(store.save(5, w(0)))).toEqual([5, 7, "exists"]);
    expect(await notWritten(store.save(7, w(0)))).toEqual([7, 7, "exists"]);
    expect(await notWritten(store.save(6, w(0)))).toEqual([6, 7, "below_latest"]);
    expect(await notWritten(store.save(6, w(0), { overwrite: true }))).toEqual([6, 7, "below_latest"]);
    await store.delete(7);
    await store.save(6, w(6));
    expect(await store.listSteps()).toEqual([5, 6]);
    const web = new OrbaxCheckpointStore("https://localhost/checkpoints");
    for (const call of [() => web.save(1, w(1)), () => web.delete(1)])
      expect(await failureOf(call())).toMatchObject({ name: "StorageError", reason: "read-only" });
  });

  it("a place that does not take it, with the cause", async () => {
    const { storage, store } = emptyStore();
    await store.save(1, w(1));
    const cause = new StorageError({ path: "", reason: "quota", message: "no room" });
    Object.assign(storage, { requireRoom: () => Promise.reject(cause) });
    const full = new OrbaxCheckpointStore(storage);
    expect(await failureOf(full.save(1, w(2), { overwrite: true }))).toMatchObject({
      name: "CheckpointNotWrittenError",
      reason: "rejected",
      latestStep: 1,
      cause,
    });
    expect(await firstOf(store, 1)).toBe(1);
    const file = new OrbaxCheckpointStore(memoryStorage({ "1": new Uint8Array() }));
    expect(await failureOf(file.save(1, w(1)))).toMatchObject({ reason: "rejected", cause: { name: "StorageError", path: "1" } });
  });
});

describe("what save leaves", () => {
  it("is a record, the files of an Orbax step, and nothing else", async () => {
    const { storage, store } = emptyStore();
    const options = {
      epoch: 4,
      metrics: { loss: Number.NaN, a: 1 },
      producer: { name: "p", version: "1" },
      extra: { ü: [1, null, 2n ** 60n] },
    };
    const saving = store.save(3, { rng: { impl: "rbg", data: new Uint32Array(4) }, data_iterator: { i: 3, s: "x" } }, options);
    await saving.taken;
    expect(await saving).toBe("memory/3");
    expect(await store.readMetadata(3)).toMatchObject({
      step: 3,
      items: ["rng", "data_iterator"],
      libraries: { "orbax-webgpu": "0.1.0" },
      ...options,
    });
    const paths = [...(await filesOf(storage)).keys()].map((path) => path.replace(/\/d\/[0-9a-f]{32}$/, "/d/*"));
    const item = (name: string, ...more: string[]) =>
      ["_METADATA", "commit_success.txt", "d/*", "manifest.ocdbt", ...more].map((file) => `3/${name}/${file}`);
    const json = (name: string) => [`3/${name}/metadata`, `3/${name}/commit_success.txt`];
    const expected = [
      ...["3/_CHECKPOINT_METADATA", "3/commit_success.txt", ...json("dtypes"), ...json("metadata")],
      ...item("data_iterator", "_strings.json"),
      ...item("rng", "_sharding", "array_metadatas/process_0"),
    ];
    expect(paths.sort()).toEqual(expected.sort());
  });

  it("keeps the newest steps by number, and the one just written", async () => {
    const { storage, store } = emptyStore(2);
    const listed: number[][] = [];
    for (const step of [1, 5, 7]) {
      await store.save(step, w(step));
      listed.push(await store.listSteps());
    }
    await store.save(5, w(50), { overwrite: true });
    await store.save(9, w(9));
    listed.push(await store.listSteps());
    const one = new OrbaxCheckpointStore(storage, { maxToKeep: 1 });
    await one.save(7, w(70), { overwrite: true });
    listed.push(await store.listSteps());
    await one.save(10, w(10));
    listed.push(await one.listSteps());
    expect(listed).toEqual([[1], [1, 5], [5, 7], [7, 9], [7, 9], [10]]);
    const byDefault = new OrbaxCheckpointStore(memoryStorage());
    for (let step = 0; step < 7; step++) await byDefault.save(step, w(step));
    expect(await byDefault.listSteps()).toEqual([2, 3, 4, 5, 6]);
  });

  it("is gone after delete, and only that", async () => {
    const { storage, store } = emptyStore();
    await store.save(1, w(1));
    await store.save(2, w(2));
    await store.delete(1);
    expect(await store.listSteps()).toEqual([2]);
    for (const call of [() => store.delete(1), () => store.restore(1), () => store.readMetadata(1)])
      expect(await failureOf(call())).toBeInstanceOf(CheckpointNotFoundError);
    expect((await storage.list("")).directories).toEqual(["2"]);
    await store.delete(2);
    expect(await storage.list("")).toEqual({ files: [], directories: [] });
    expect(await failureOf(emptyStore().store.delete(1))).toBeInstanceOf(CheckpointNotFoundError);
  });
});

describe("while others read and write", () => {
  it("a save does not wait for readers; a later call tidies", async () => {
    const { storage, store } = emptyStore();
    await store.save(1, w(1));
    const { reading, end } = await beingRead(store, storage, 1);
    await store.save(2, w(2));
    await store.save(1, w(10), { overwrite: true });
    const pending = (await storage.list("")).directories.filter((name) => name.includes(".orbax-checkpoint-tmp-webgpu-"));
    expect(pending.length).toBe(2);
    end();
    // Who was opening it looks twice, and opens it again.
    expect((await reading).leaf("model", "w")).toMatchObject({ data: Float32Array.of(10, 2) });
    expect([await store.listSteps(), await firstOf(store, 1), await firstOf(store, 2)]).toEqual([[1, 2], 10, 2]);
    expect(await new OrbaxCheckpointStore(storage).listSteps()).toEqual([1, 2]);
    expect((await storage.list("")).directories).toEqual(["1", "2"]);
    expect([await firstOf(store, 1), await firstOf(store, 2)]).toEqual([10, 2]);
  });

  it("an opened step is read on after it was published, and not after it was deleted or replaced", async () => {
    const { storage, store } = emptyStore();
    await store.save(1, w(1));
    const { reading, end } = await beingRead(store, storage, 1);
    await store.save(2, w(2));
    await store.save(3, w(3));
    const [second, third] = [await store.open(2), await store.open(3)];
    end();
    await reading;
    await new OrbaxCheckpointStore(storage).listSteps(); // tidies
    expect((await storage.list("")).directories).toEqual(["1", "2", "3"]);
    expect((await second.restore()).leaf("model", "w")).toMatchObject({ data: Float32Array.of(2, 2) });
    await store.save(2, w(20), { overwrite: true });
    expect(await failureOf(second.restore())).toMatchObject({ name: "CheckpointNotFoundError", step: 2 });
    await store.delete(3);
    expect(await failureOf(third.restore())).toMatchObject({ name: "CheckpointNotFoundError", step: 3 });
  });

  it("a delete hides a step from everybody while it is read, and a later save of it is seen", async () => {
    const { storage, store } = emptyStore();
    await store.save(1, w(1));
    await store.save(2, w(2));
    const { reading, end } = await beingRead(store, storage, 1);
    await store.delete(2);
    expect((await storage.list("")).directories).toContain("2");
    expect(await store.listSteps()).toEqual([1]);
    expect(await failureOf(store.restore(2))).toBeInstanceOf(CheckpointNotFoundError);
    await store.save(2, w(20));
    expect(await store.listSteps()).toEqual([1, 2]);
    expect(await firstOf(store, 2)).toBe(20);
    await store.delete(2);
    expect(await store.listSteps()).toEqual([1]);
    end();
    await reading;
    await store.save(4, w(4));
    expect((await storage.list("")).directories).toEqual(["1", "4"]);
  });

  it("a step that Python saved since a delete or overwrite is never hidden", async () => {
    const [{ storage, store }, other] = [emptyStore(), emptyStore()];
    await store.save(1, w(1));
    await store.save(2, w(2));
    await other.store.save(1, w(100));
    await other.store.save(2, w(200));
    const { reading, end } = await beingRead(store, storage, 1);
    await store.delete(1);
    await store.save(2, w(20), { overwrite: true });
    // A program without our locks replaces the folders before anybody could tidy.
    for (const step of ["1", "2"]) await storage.remove(step);
    for (const [path, bytes] of await filesOf(other.storage)) await storage.write(path, bytes);
    end();
    await failureOf(reading);
    expect([await store.listSteps(), await firstOf(store, 1), await firstOf(store, 2)]).toEqual([[1, 2], 100, 200]);
    await store.save(3, w(3));
    expect([await store.listSteps(), await firstOf(store, 1), await firstOf(store, 2)]).toEqual([[1, 2, 3], 100, 200]);
    expect((await storage.list("")).directories).toEqual(["1", "2", "3"]);
  });

  it("what a program without our locks replaces while it is opened is opened again, and while it is restored is told", async () => {
    const [{ storage, store }, other] = [emptyStore(), emptyStore()];
    await store.save(1, w(1));
    await other.store.save(1, w(100));
    const replaceAt = (path: string) => {
      const { read } = storage;
      Object.assign(storage, {
        read: async (...args: Parameters<WritableStorage["read"]>) => {
          const bytes = await read(...args);
          if (args[0].includes(path)) {
            Object.assign(storage, { read });
            await storage.remove("1");
            for (const [file, content] of await filesOf(other.storage)) await storage.write(file, content);
          }
          return bytes;
        },
      });
    };
    replaceAt("1/metadata/metadata");
    expect(await firstOf(new OrbaxCheckpointStore(storage), 1)).toBe(100);
    await other.store.save(1, { model: { w: new Float32Array(1000) } }, { overwrite: true });
    const opened = await store.open(1);
    replaceAt("1/_CHECKPOINT_METADATA");
    expect(await failureOf(opened.restore())).toBeInstanceOf(CheckpointNotFoundError);
  });

  it("a second save waits, or fails clearly", async () => {
    const { storage, store } = emptyStore();
    const saving = [store.save(1, w(1)), new OrbaxCheckpointStore(storage).save(2, w(2))];
    const busy = await failureOf(store.save(3, w(3), { ifLocked: "fail" }));
    expect(busy).toMatchObject({ name: "CheckpointNotWrittenError", reason: "rejected", cause: { name: "StorageError", reason: "busy" } });
    await Promise.all(saving);
    expect(await store.listSteps()).toEqual([1, 2]);
  });

  it("twenty writers that each take the next step write twenty steps", async () => {
    const { storage } = emptyStore();
    const next = async (): Promise<void> => {
      const store = new OrbaxCheckpointStore(storage, { maxToKeep: null });
      const step = ((await store.latestStep()) ?? 0) + 1;
      const error = await failureOf(store.save(step, w(step)));
      if (error instanceof CheckpointNotWrittenError) return next();
      expect(error).toBe("no error");
    };
    await Promise.all(Array.from({ length: 20 }, next));
    expect(await new OrbaxCheckpointStore(storage).listSteps()).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });
});

describe("progress and abort", () => {
  it("counts every byte and leaf, and ends with all of them", async () => {
    const events: ProgressEvent[] = [];
    const items = { model: { a: new Float32Array(3_000_000), b: Int8Array.of(1), c: 5, d: "text" } };
    await emptyStore().store.save(1, items, { onProgress: (event) => events.push(event) });
    const totalBytes = 12_000_000 + 1 + 8;
    expect(new Set(events.map((event) => event.totalBytes))).toEqual(new Set([totalBytes]));
    expect(events.at(-1)).toEqual({ phase: "done", leaf: "", loadedBytes: totalBytes, totalBytes, leaves: 3, totalLeaves: 3 });
    const loaded = events.map(({ loadedBytes }) => loadedBytes);
    expect(loaded).toEqual([...loaded].sort((a, b) => a - b));
    expect(new Set(events.map(({ leaf }) => leaf))).toEqual(new Set(["", "model/a", "model/b", "model/c"]));
  });

  it("an abort at any event leaves what was there, and nothing of the save", async () => {
    const { storage, store } = emptyStore();
    await store.save(1, w(1));
    const before = await filesOf(storage);
    const items = { model: Array.from({ length: 5 }, (_, index) => Float32Array.of(index)) };
    for (let at = 0; at < 6; at++) {
      const controller = new AbortController();
      const reason = new Error(`enough at ${at}`);
      let count = 0;
      const onProgress = () => void (count++ === at && controller.abort(reason));
      expect(await failureOf(store.save(1, items, { overwrite: true, signal: controller.signal, onProgress }))).toBe(reason);
      expect(await filesOf(storage)).toEqual(before);
    }
    expect(await failureOf(store.save(2, items, { signal: AbortSignal.abort(new Error("before")) }))).toMatchObject({ message: "before" });
    expect(await filesOf(storage)).toEqual(before);
  });
});

// Checked by the compiler.
it("does not compile for places that are read only", () => {
  const url = new OrbaxCheckpointStore(new URL("https://localhost/"));
  const readOnly = new OrbaxCheckpointStore({ read: async () => undefined, list: async () => ({ files: [], directories: [] }) });
  const calls = [
    // @ts-expect-error
    () => url.save(1, w(1)),
    // @ts-expect-error
    () => readOnly.save(1, w(1)),
    // @ts-expect-error
    () => readOnly.delete(1),
  ];
  expect(calls.length).toBe(3);
});
