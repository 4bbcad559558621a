import { describe, expect, test } from "vitest";
import type { DirectoryLocks } from "../../storage/locks/locks.js";
import { memoryStorage } from "../../storage/memory.js";
import { filesOfStep } from "../fixtureSteps.testing.js";
import { restoredLeaves } from "../restoredLeaves.testing.js";
import { OrbaxCheckpointStore } from "../store.js";
import { type Fault, FaultyStorage, type Files, filesOf } from "./faultyStorage.testing.js";

// A storage that fails or stops at every single change of a save, an overwrite, a delete and a retention pass: then each step is as it was
// before, or as it was to become.

const itemsOf = (seed: number) => ({
  model: { w: Float32Array.from({ length: 600 }, (_, index) => index * seed), name: `seed ${seed}` },
});

/** Items of other files than above, so that an overwrite leaves some over. */
const otherItems = (seed: number) => ({
  rng: { impl: "threefry2x32", data: Uint32Array.of(0, seed) },
  model: { w: Float64Array.from({ length: 300 }, (_, index) => index - seed) },
});

const faultyMemory = (files: Files, fault?: Fault) => new FaultyStorage(memoryStorage(new Map(files)), fault);

type Act = (store: OrbaxCheckpointStore) => Promise<unknown>;

/** All steps, and what a restore gives of each, as text. */
async function contents(files: Files): Promise<Map<number, string>> {
  const store = new OrbaxCheckpointStore(memoryStorage(new Map(files)));
  const found = new Map<number, string>();
  for (const step of await store.listSteps()) {
    const { items, metadata } = await store.restore(step);
    const leaves = restoredLeaves(items).map(({ bytes, ...leaf }) => ({ ...leaf, bytes: Buffer.from(bytes).toString("base64") }));
    found.set(step, JSON.stringify([metadata.metrics, Object.keys(items), leaves]));
  }
  return found;
}

/** Leaves the store as a tab does that is killed in the middle of the tidying after a change. */
async function untidied(files: Files, act: Act): Promise<Files> {
  const whole = faultyMemory(files);
  await act(new OrbaxCheckpointStore(whole.storage, { maxToKeep: null }));
  const left: Files[] = [];
  for (let at = 0; at < whole.changes; at++) {
    const faulty = faultyMemory(files, { at, kind: "stops" });
    await act(new OrbaxCheckpointStore(faulty.storage, { maxToKeep: null })).catch(() => undefined);
    const now = await faulty.files();
    if ([...now.keys()].some((path) => path.endsWith("orbax-webgpu-commit.json"))) left.push(now);
  }
  const middle = left[Math.floor(left.length / 2)];
  if (middle === undefined) throw new Error("the change was tidied in every case");
  return middle;
}

/** Several changes of one step, none of which could be tidied, as somebody was always reading. */
async function neverTidied(files: Files): Promise<Files> {
  const memory = memoryStorage(new Map(files));
  const locks: DirectoryLocks = {
    hold: async (name, { mode }, work) => (name === "readers" && mode === "exclusive" ? undefined : { value: await work() }),
  };
  const store = new OrbaxCheckpointStore({ ...memory, locks }, { maxToKeep: null });
  await store.save(3, itemsOf(30), { overwrite: true });
  await store.delete(3);
  for (const seed of [81, 82]) await store.save(8, otherItems(seed), { overwrite: true });
  return filesOf(memory);
}

async function makeStarts(): Promise<Record<string, Files>> {
  const storage = memoryStorage();
  const store = new OrbaxCheckpointStore(storage, { maxToKeep: null });
  for (const step of [3, 8]) await store.save(step, itemsOf(step), { metrics: { loss: step } });
  const tidy = await filesOf(storage);
  return {
    "an empty directory": new Map(),
    "two steps": tidy,
    "a step of Python's": filesOfStep("bare", 4),
    "an overwrite that nobody tidied": await untidied(tidy, (each) => each.save(8, otherItems(80), { overwrite: true })),
    "several changes that nobody tidied": await neverTidied(tidy),
    "a delete that nobody tidied": await untidied(tidy, (each) => each.delete(3)),
  };
}

const starts = makeStarts();

const acts: Record<string, { readonly act: Act; readonly maxToKeep: number | null }> = {
  "a save": { act: (store) => store.save(9, otherItems(9), { metrics: { loss: 9 } }), maxToKeep: null },
  "an overwrite of the latest": {
    act: async (store) => store.save((await store.latestStep()) ?? 1, otherItems(50), { overwrite: true, metrics: { loss: 50 } }),
    maxToKeep: null,
  },
  "an overwrite of the first": {
    act: async (store) => store.save((await store.listSteps())[0] ?? 1, otherItems(51), { overwrite: true, compression: "zstd" }),
    maxToKeep: null,
  },
  "a delete": { act: async (store) => store.delete((await store.listSteps())[0] ?? 1), maxToKeep: null },
  "a retention pass": { act: (store) => store.save(10, itemsOf(10)), maxToKeep: 1 },
};

describe.each(Object.entries(acts))("%s", (_, { act, maxToKeep }) => {
  test.each(["fails", "stops"] as const)("leaves every step whole where the storage %s at any change", async (kind) => {
    for (const [start, files] of Object.entries(await starts)) {
      const before = await contents(files);
      const whole = faultyMemory(files);
      const done = await act(new OrbaxCheckpointStore(whole.storage, { maxToKeep })).then(
        () => true,
        () => false,
      );
      const after = await contents(await whole.files());
      if (done) expect(after, start).not.toEqual(before);
      for (let at = 0; at < whole.changes; at++) {
        const place = `${start}: ${kind} at change ${at} of ${whole.changes}`;
        const faulty = faultyMemory(files, { at, kind });
        const resolved = await act(new OrbaxCheckpointStore(faulty.storage, { maxToKeep })).then(
          () => true,
          () => false,
        );
        const left = await faulty.files();
        const found = await contents(left);
        for (const step of new Set([...before.keys(), ...after.keys(), ...found.keys()])) {
          expect([before.get(step), after.get(step)], `${place}: step ${step}`).toContain(found.get(step));
        }
        // Old steps go only after the new one is there.
        const isCommitted = [...after].every(([step, text]) => found.get(step) === text);
        for (const [step, text] of before) if (!isCommitted) expect(found.get(step), `${place}: step ${step} before the commit`).toBe(text);
        if (resolved && done && maxToKeep === null) expect(found, place).toEqual(after);
        if (at % 5 === 0) await expectGoesOn(left, place);
      }
    }
  });
});

/** Whatever was left, the next save works, and leaves nothing of it. */
async function expectGoesOn(files: Files, place: string): Promise<void> {
  const before = await contents(files);
  const storage = memoryStorage(new Map(files));
  const store = new OrbaxCheckpointStore(storage, { maxToKeep: null });
  await store.save(20, { model: Int8Array.of(1) });
  const names = [...(await filesOf(storage)).keys()].filter((path) => /orbax-checkpoint-tmp|orbax-webgpu/.test(path));
  expect(names, place).toEqual([]);
  const after = await contents(await filesOf(storage));
  expect(after.size, place).toBe(before.size + 1);
  for (const [step, text] of before) expect(after.get(step), place).toBe(text);
}
