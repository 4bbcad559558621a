import { expect, test } from "vitest";
import { StorageError } from "../../errors.js";
import { threadLocks } from "../../storage/locks/threadLocks.js";
import { memoryStorage } from "../../storage/memory.js";
import type { WritableStorage } from "../../storage/storage.js";
import { OrbaxCheckpointStore } from "../store.js";
import { readIdentity, readState, stepsOf } from "./commits.js";

const shared = { mode: "shared", wait: true } as const;
const model = (seed: number) => ({ model: Float32Array.from({ length: 600 }, (_, index) => index + seed) });
const keepAll = { maxToKeep: null } as const;

function lockedMemory(changes: Partial<WritableStorage> = {}) {
  const memory = memoryStorage();
  return { ...memory, ...changes, locks: threadLocks() };
}

/** Something that is waited for. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** A read that goes on until it is told to end. */
function readerOf({ locks }: { readonly locks: ReturnType<typeof threadLocks> }) {
  const { open, opened } = gate();
  return { end: open, ended: locks.hold("readers", shared, () => opened) };
}

const foldersOf = async (storage: WritableStorage) => (await storage.list("")).directories;

/** The first number of each step's array. */
async function seedsOf(storage: WritableStorage) {
  const store = new OrbaxCheckpointStore(storage);
  const seeds: Record<number, unknown> = {};
  for (const step of await store.listSteps())
    seeds[step] = ((await store.restore(step)).leaf("model", "") as { data: Float32Array }).data[0];
  return seeds;
}

test("readers who follow on each other without a pause do not hold tidying up", async () => {
  const storage = lockedMemory();
  const store = new OrbaxCheckpointStore(storage, { maxToKeep: 1 });
  let reader = readerOf(storage);
  for (let step = 1; step <= 5; step++) {
    await store.save(step, model(step));
    expect(await foldersOf(storage)).not.toEqual([`${step}`]);
    const next = readerOf(storage);
    const seen = storage.locks.hold("readers", shared, () => foldersOf(storage));
    reader.end();
    // Who came before the last one ended is served after it was tidied.
    expect((await seen)?.value).toEqual([`${step}`]);
    reader = next;
  }
  reader.end();
  await reader.ended;
});

test("a read that does not end holds up neither saves nor other reads, and tidying comes after it", async () => {
  const storage = lockedMemory();
  const store = new OrbaxCheckpointStore(storage, keepAll);
  const reader = readerOf(storage);
  await store.save(1, model(1));
  await store.save(2, model(2));
  expect(await store.listSteps()).toEqual([1, 2]);
  expect(await seedsOf(storage)).toEqual({ 1: 1, 2: 2 });
  reader.end();
  await expect.poll(() => foldersOf(storage)).toEqual(["1", "2"]);
});

test("what saves replace and drop while a read goes on takes room until it ends, and then goes whole", async () => {
  const storage = lockedMemory();
  const store = new OrbaxCheckpointStore(storage, { maxToKeep: 2 });
  const reader = readerOf(storage);
  for (let step = 1; step <= 5; step++) {
    await store.save(step, model(step));
    await store.save(step, model(step * 10), { overwrite: true });
    expect(await store.listSteps()).toEqual([step - 1, step].filter((kept) => kept > 0));
  }
  expect((await foldersOf(storage)).length).toBeGreaterThan(10);
  reader.end();
  await expect.poll(() => foldersOf(storage)).toEqual(["4", "5"]);
  expect(await seedsOf(storage)).toEqual({ 4: 40, 5: 50 });
});

test("saves, overwrites and deletes go on while somebody tidies", async () => {
  const { open, opened } = gate();
  const memory = memoryStorage();
  let moves = 0;
  const storage = lockedMemory({
    ...memory,
    move: async (from, to) => {
      if (moves++ === 3) await opened;
      return memory.move(from, to);
    },
  });
  const store = new OrbaxCheckpointStore(storage, keepAll);
  const reader = readerOf(storage);
  await store.save(1, model(1));
  await store.save(2, model(2));
  reader.end();
  await expect.poll(() => moves).toBeGreaterThan(3);
  await store.save(1, model(10), { overwrite: true });
  await store.save(3, model(3));
  await store.delete(2);
  await expect(store.save(3, model(4))).rejects.toThrow("exists");
  open();
  await expect.poll(() => foldersOf(storage)).toEqual(["1", "3"]);
  expect(await seedsOf(storage)).toEqual({ 1: 10, 3: 3 });
});

test("a listing in which a step was not tidied yet, though it is when its marker is read, is not believed", async () => {
  const storage = lockedMemory();
  const reader = readerOf(storage);
  await new OrbaxCheckpointStore(storage, keepAll).save(7, model(7));
  let isTidied = false;
  const late: WritableStorage = {
    ...storage,
    read: async (path, options) => {
      if (!isTidied) {
        reader.end();
        await expect.poll(() => foldersOf(storage)).toEqual(["7"]);
        isTidied = true;
      }
      return storage.read(path, options);
    },
  };
  const state = await readState(late, {});
  expect(stepsOf(state)).toEqual([7]);
  expect(state).toMatchObject({ unfinished: [], outdated: [] });
});

test("a marker that is tidied away while it is read is read again", async () => {
  const storage = lockedMemory();
  await new OrbaxCheckpointStore(storage, keepAll).save(7, model(7));
  let reads = 0;
  const changing = (times: number): WritableStorage => ({
    ...storage,
    read: async (path, options) => {
      if (reads++ < times) throw new StorageError({ path, reason: "changed", message: "it is gone" });
      return storage.read(path, options);
    },
  });
  expect(await readIdentity(changing(2), "7", {})).toContain("init_timestamp_nsecs");
  reads = 0;
  await expect(readIdentity(changing(100), "7", {})).rejects.toThrow("it is gone");
  expect(reads).toBe(10);
});

test("the first to open a store, and who saves, has what others left half written removed, where there is any", async () => {
  const asked: string[] = [];
  const storage = lockedMemory({ removeAbandoned: async (prefix) => void asked.push(prefix) });
  await new OrbaxCheckpointStore(storage, keepAll).save(1, model(1));
  await new OrbaxCheckpointStore(storage).listSteps();
  expect(asked).toEqual([]);
  await storage.write(".somebody.1.partial", Uint8Array.of(1));
  await storage.locks.hold("writer", { mode: "exclusive", wait: true }, () => new OrbaxCheckpointStore(storage).listSteps());
  expect(asked).toEqual([]);
  await new OrbaxCheckpointStore(storage).listSteps();
  expect(asked).toEqual([""]);
  await new OrbaxCheckpointStore(storage, keepAll).save(2, model(2));
  expect(asked).toEqual(["", ""]);
});
