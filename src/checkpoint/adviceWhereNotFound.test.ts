import { describe, expect, it } from "vitest";
import { StorageError } from "../errors.js";
import { memoryStorage } from "../storage/memory.js";
import type { ReadableStorage } from "../storage/storage.js";
import { subfolder } from "../storage/subfolder.js";
import { type Files, filesOfStep } from "./fixtureSteps.testing.js";
import { OrbaxCheckpointStore } from "./store.js";

const run: Files = new Map(Array.from(filesOfStep("digits", 1200), ([path, bytes]) => [`run/checkpoints/${path}`, bytes]));
const storage = memoryStorage(run);

const withoutListing = (place: ReadableStorage): ReadableStorage => ({
  read: place.read,
  list: () => Promise.reject(new StorageError({ path: "", reason: "cannot-list", message: "no list" })),
});

const messageOf = async (place: ReadableStorage, step: unknown): Promise<string> =>
  new OrbaxCheckpointStore(place).restore(step as number).then(
    () => "restored",
    (error: Error) => `${error.name}: ${error.message}`,
  );

describe.each([
  ["a place that lists", (place: ReadableStorage) => place],
  ["a place that lists nothing", withoutListing],
])("on %s, CheckpointNotFoundError says what to give instead", (_, as) => {
  it.each([
    ["a step", "run/checkpoints/1200", /is a step itself.*folder above/],
    ["an item of a step", "run/checkpoints/1200/model", /is an item of a step.*two levels above/],
    ["the run's folder", "run", /folder "checkpoints".*holds step 1200/],
  ])("of %s", async (_, folder, advice) => {
    const message = await messageOf(as(subfolder(storage, folder)), 1200);
    expect(message).toMatch(/^CheckpointNotFoundError: no checkpoint at step 1200 under /);
    expect(message).toMatch(advice);
  });
});

describe("CheckpointNotFoundError", () => {
  it("names the steps that there are", async () => {
    expect(await messageOf(subfolder(storage, "run/checkpoints"), 7)).toMatch(/; it holds step 1200$/);
    const many = memoryStorage(
      Object.fromEntries(Array.from({ length: 30 }, (_, step) => [`${step}/metadata/metadata`, new Uint8Array()])),
    );
    expect(await messageOf(many, 77)).toMatch(/; it holds 30 steps, the last are 20, 21, 22, 23, 24, 25, 26, 27, 28 and 29$/);
  });

  it("says what the directory has to be, where nothing is known", async () => {
    expect(await messageOf(memoryStorage(), 7)).toMatch(/it holds no steps: give the folder that holds the folder "7"$/);
    expect(await messageOf(withoutListing(memoryStorage()), 7)).toMatch(
      /check the step and the address: give the folder that holds the folder "7"$/,
    );
  });

  it("says what a step is, where it was given something else", async () => {
    expect(await messageOf(storage, "7")).toMatch(/a step is a number, not a string$/);
    expect(await messageOf(storage, null)).toMatch(/a step is a number, not null.*latestStep\(\)/);
    expect(await messageOf(storage, undefined)).toMatch(/a step is a number, not undefined/);
    expect(await messageOf(storage, -1)).toMatch(/not negative/);
  });

  it("comes also where looking around fails", async () => {
    const failing: ReadableStorage = {
      read: async (path) => {
        if (/^(7|absent)/.test(path)) return undefined;
        throw new StorageError({ path, reason: "status", message: "the server answered 403" });
      },
      list: withoutListing(storage).list,
    };
    expect(await messageOf(failing, 7)).toMatch(/^CheckpointNotFoundError/);
  });
});
