import { expect, test } from "vitest";
import { StorageError } from "../../errors.js";
import { memoryStorage } from "../../storage/memory.js";
import type { ReadableStorage } from "../../storage/storage.js";
import { filesOfStep } from "../fixtureSteps.testing.js";
import { restoredLeaves, sameLeaves } from "../restoredLeaves.testing.js";
import { OrbaxCheckpointStore } from "../store.js";

/** A place that fails for every file that is not there, as a browser does where a server sends no CORS headers with its 404. */
function failingWhereAbsent(storage: ReadableStorage, failure: () => Promise<never>): ReadableStorage {
  return {
    list: storage.list,
    read: async (path, options) => (await storage.read(path, options)) ?? failure(),
  };
}

test.each([
  ["bare", 1],
  ["bare", 4],
  ["digits", 1200],
] as const)("of %s step %i no file is needed that is not there", async (fixture, step) => {
  const storage = memoryStorage(filesOfStep(fixture, step));
  const whole = restoredLeaves((await new OrbaxCheckpointStore(storage).restore(step)).items);
  const refused = () => Promise.reject(new StorageError({ path: "", reason: "network", message: "no answer" }));
  const unanswered = () => new Promise<never>(() => {});
  for (const failure of [refused, unanswered]) {
    const { items } = await new OrbaxCheckpointStore(failingWhereAbsent(storage, failure)).restore(step);
    expect(sameLeaves(restoredLeaves(items), whole)).toBe(true);
  }
});

test("asking for a database that an item has not is given up", async () => {
  let given: AbortSignal | undefined;
  const storage = memoryStorage(filesOfStep("bare", 1));
  const watched: ReadableStorage = {
    list: storage.list,
    read: (path, options) => {
      if (!path.endsWith("data_iterator/manifest.ocdbt")) return storage.read(path, options);
      given = options?.signal;
      return new Promise(() => {});
    },
  };
  await new OrbaxCheckpointStore(watched).open(1);
  expect(given?.aborted).toBe(true);
});
