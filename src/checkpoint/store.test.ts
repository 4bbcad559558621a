import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  CheckpointNotFoundError,
  CheckpointValueError,
  CorruptCheckpointError,
  isCheckpointError,
  StorageError,
  UnsupportedCheckpointError,
} from "../errors.js";
import { memoryStorage } from "../storage/memory.js";
import { nodeStorage } from "../storage/node.js";
import type { ReadableStorage } from "../storage/storage.js";
import { OrbaxCheckpointStore } from "./store.js";
import { shapeDtypeStruct } from "./template/template.js";

const fixtures = join(import.meta.dirname, "../../e2e/fixtures/data");
const storeOf = (fixture: string) => new OrbaxCheckpointStore(nodeStorage(join(fixtures, fixture, "checkpoints")));
const encode = (text: string) => new TextEncoder().encode(text);

const record = (step: number, metrics: Readonly<Record<string, number>> = {}) =>
  encode(JSON.stringify({ format: "substrax-checkpoint", step, items: [], metrics, created_at: "" }));

/** A store of steps with records only. */
const storeOfRecords = (metrics: Readonly<Record<number, Readonly<Record<string, number>>>>) =>
  new OrbaxCheckpointStore(
    memoryStorage(
      Object.fromEntries(Object.entries(metrics).map(([step, values]) => [`${step}/metadata/metadata`, record(Number(step), values)])),
    ),
  );

/** The same files in a place that cannot list, as most web servers are. */
const unlistable = (storage: ReadableStorage): ReadableStorage => ({
  read: (path, options) => storage.read(path, options),
  list: async () => {
    throw new StorageError({ path: "", reason: "cannot-list", message: "no index; give a step" });
  },
});

const failureOf = (work: Promise<unknown>): Promise<unknown> => work.then(() => "no error").catch((error: unknown) => error);

describe("an absent directory (substrax-behaviour 1)", () => {
  const store = new OrbaxCheckpointStore(nodeStorage(join(fixtures, "not-there")));

  it("has no steps", async () => {
    expect(await store.listSteps()).toEqual([]);
    expect(await store.latestStep()).toBeNull();
    expect(await store.bestStep("loss")).toBeNull();
  });

  it("answers CheckpointNotFoundError with step and directory to restore, open and readMetadata", async () => {
    for (const call of [() => store.restore(1), () => store.open(1), () => store.readMetadata(1)]) {
      const error = await failureOf(call());
      expect(error).toBeInstanceOf(CheckpointNotFoundError);
      expect(error).toMatchObject({ step: 1 });
      expect((error as CheckpointNotFoundError).directory).toContain("not-there");
    }
  });
});

describe("close (substrax-behaviour 1)", () => {
  it("may be called twice or without a use, and the store opens again on use", async () => {
    const store = storeOf("metrics");
    await store.close();
    await store.close();
    expect(await store.latestStep()).not.toBeNull();
    await store.close();
    expect(await store.latestStep()).not.toBeNull();
  });

  it("ends an await using block, which passes an error on", async () => {
    const failing = async () => {
      await using store = storeOf("metrics");
      await store.listSteps();
      throw new Error("inside");
    };
    await expect(failing()).rejects.toThrow("inside");
  });
});

describe("listSteps (substrax-behaviour 4)", () => {
  it("takes plain decimal folders in numeric order and leaves everything else alone", async () => {
    const folders = ["9", "10", "3", "0", "03", "003", "step_4", "-7", "+8", "abc", "1e3", "0x1f", "1_0", "10 ", " 11", "١"];
    const unfinished = ["5.orbax-checkpoint-tmp", "6.orbax-checkpoint-tmp-123", "99999999999999999999"];
    const files = Object.fromEntries([...folders, ...unfinished].map((folder) => [`${folder}/x`, encode("")]));
    const store = new OrbaxCheckpointStore(memoryStorage({ ...files, 12: encode("a file") }));
    expect(await store.listSteps()).toEqual([0, 3, 9, 10]);
    expect(await store.latestStep()).toBe(10);
  });

  it("reads the listing each time, so that another writer's steps are seen", async () => {
    const storage = memoryStorage({ "1/metadata/metadata": record(1) });
    const store = new OrbaxCheckpointStore(storage);
    expect(await store.listSteps()).toEqual([1]);
    await storage.write("2/metadata/metadata", record(2));
    expect(await store.listSteps()).toEqual([1, 2]);
  });

  it("says how to go on where nothing can be listed, and restores an explicit step there", async () => {
    const store = new OrbaxCheckpointStore(unlistable(nodeStorage(join(fixtures, "metrics/checkpoints"))));
    expect(await failureOf(store.listSteps())).toMatchObject({ reason: "cannot-list" });
    expect((await store.restore(1)).step).toBe(1);
    expect(await failureOf(store.restore(99))).toBeInstanceOf(CheckpointNotFoundError);
    const foreign = new OrbaxCheckpointStore(unlistable(nodeStorage(join(fixtures, "plain-orbax/checkpoints"))));
    expect(await failureOf(foreign.restore(1))).toBeInstanceOf(UnsupportedCheckpointError);
  });
});

describe("bestStep (substrax-behaviour 4)", () => {
  it.each(["MIN", "", null])("refuses the mode %j before anything is read", async (mode) => {
    const store = new OrbaxCheckpointStore(unlistable(memoryStorage()));
    expect(await failureOf(store.bestStep("loss", { mode: mode as "min" }))).toBeInstanceOf(CheckpointValueError);
  });

  it("is the lowest step of the best value", async () => {
    const store = storeOfRecords({ 10: { loss: 1 }, 9: { loss: 1 }, 2: { loss: 3, accuracy: 0.5 }, 30: {} });
    expect(await store.bestStep("loss")).toBe(9);
    expect(await store.bestStep("loss", { mode: "max" })).toBe(2);
    expect(await store.bestStep("accuracy")).toBe(2);
    expect(await store.bestStep("toString")).toBeNull();
  });

  it("never takes NaN, and infinities are values; -0 ties with 0", async () => {
    const storage = memoryStorage(
      Object.fromEntries(
        ["NaN", "2", "Infinity", "-Infinity", "-Infinity"].map((value, step) => [
          `${step}/metadata/metadata`,
          encode(
            `{"format": "substrax-checkpoint", "step": ${step}, "items": [], "created_at": "", "metrics": {"m": ${value}, "nan": NaN, "z": ${step % 2 === 0 ? "-0.0" : "0"}}}`,
          ),
        ]),
      ),
    );
    const store = new OrbaxCheckpointStore(storage);
    expect(await store.bestStep("m")).toBe(3);
    expect(await store.bestStep("m", { mode: "max" })).toBe(2);
    expect(await store.bestStep("nan")).toBeNull();
    expect(await store.bestStep("z", { mode: "max" })).toBe(0);
  });

  it("refuses a store with a foreign step, naming it", async () => {
    const storage = memoryStorage({
      "1/metadata/metadata": record(1, { m: 1 }),
      "2/metadata/metadata": encode('{"format": "x"}'),
      "3/a": encode(""),
    });
    const store = new OrbaxCheckpointStore(storage);
    const error = await failureOf(store.bestStep("m"));
    expect(error).toBeInstanceOf(UnsupportedCheckpointError);
    expect(String(error)).toMatch(/step [23]/);
  });
});

describe("steps that are none (substrax-behaviour 5)", () => {
  const store = storeOf("metrics");

  it.each([[-1], ["1"], [null], [undefined]])("%j is not found", async (step) => {
    for (const call of [() => store.restore(step as number), () => store.readMetadata(step as number)]) {
      expect(await failureOf(call())).toBeInstanceOf(CheckpointNotFoundError);
    }
  });

  it.each([
    [true, "true"],
    [1.5, "1.5"],
    [Number.NaN, "NaN"],
    [2 ** 53, "9007199254740992"],
    [1n, "1n"],
    [{}, "an object"],
    [[1], "an array"],
  ])("%o is a bad value", async (step, shown) => {
    for (const call of [() => store.restore(step as number), () => store.readMetadata(step as number)]) {
      const error = await failureOf(call());
      expect(error).toBeInstanceOf(CheckpointValueError);
      expect(String(error)).toMatch(`a step is a non-negative integer up to 2^53 - 1, not ${shown}`);
    }
  });

  it("an empty folder is a step that something else wrote", async () => {
    const empty: ReadableStorage = {
      read: async () => undefined,
      list: async (prefix) => ({ files: [], directories: prefix === "" ? ["9"] : [] }),
    };
    expect(await failureOf(new OrbaxCheckpointStore(empty).restore(9))).toBeInstanceOf(UnsupportedCheckpointError);
  });

  it("a metadata folder without its file is damage", async () => {
    const store = new OrbaxCheckpointStore(memoryStorage({ "9/metadata/commit_success.txt": encode("") }));
    expect(await failureOf(store.readMetadata(9))).toBeInstanceOf(CorruptCheckpointError);
  });
});

describe("items (substrax-behaviour 5, 6)", () => {
  it("that templates name and the step lacks are refused, all of them", async () => {
    const error = await failureOf(storeOf("metrics").restore(1, { templates: { rng: {}, model: null, foo: {} } }));
    expect(error).toBeInstanceOf(CheckpointValueError);
    expect(isCheckpointError(error, "TreeMismatch")).toBe(false);
    expect(String(error)).toContain('templates name items the checkpoint lacks: ["foo","model","rng"]; step 1 holds ["data_iterator"]');
  });

  it("with a null template come back as stored, in the record's order", async () => {
    const store = storeOf("digits");
    const { items, metadata } = await store.restore(400, { templates: { rng: null } });
    expect(Object.keys(items)).toEqual(metadata.items);
  });

  it("named like paths are refused as damage", async () => {
    for (const name of ["", "..", "a/b", "."]) {
      const text = JSON.stringify({ format: "substrax-checkpoint", step: 1, items: [name], created_at: "" });
      const store = new OrbaxCheckpointStore(memoryStorage({ "1/metadata/metadata": encode(text) }));
      expect(await failureOf(store.restore(1))).toBeInstanceOf(CorruptCheckpointError);
    }
  });
});

describe("open", () => {
  it("tells leaves, limits and the record before there is a device", async () => {
    const opened = await storeOf("digits").open(400);
    expect(opened.step).toBe(400);
    expect(opened.metadata.items).toContain("model");
    expect(opened.leaves).toContainEqual({
      path: "model/hidden1/kernel/value",
      kind: "jax.Array",
      keyImpl: undefined,
      dtype: "float32",
      shape: [64, 128],
      bytes: 64 * 128 * 4,
      chunkShape: [64, 128],
      chunks: 1,
      codec: "zstd",
    });
    expect(opened.requiredLimits()).toEqual({ maxBufferSize: 256 * 2 ** 20, maxStorageBufferBindingSize: 128 * 2 ** 20 });
    expect(Object.keys(opened.items)).toEqual(opened.metadata.items);
  });

  it("restores one item alone", async () => {
    const opened = await storeOf("digits").open(400);
    const model = opened.items.model;
    const skipped = { bias: { value: null }, kernel: { value: null } };
    const out = { ...skipped, bias: { value: shapeDtypeStruct([10], "float32") } };
    const restored = await model?.restore({ template: { hidden1: skipped, hidden2: skipped, out } });
    expect(restored?.out.bias.value.shape).toEqual([10]);
    expect(restored?.out.kernel.value).toBeNull();
  });
});

describe("checkpoint.leaf", () => {
  it("finds leaves by item and path", async () => {
    const checkpoint = await storeOf("digits").restore(400);
    expect(checkpoint.leaf("model", "hidden1/bias/value")).toMatchObject({ dtype: "float32" });
    expect(checkpoint.leaf("model", "nothing")).toBeUndefined();
    expect(checkpoint.leaf("toString", "")).toBeUndefined();
    checkpoint.destroy();
  });

  it("finds every leaf that the index names", async () => {
    const opened = await storeOf("thousand").open(1);
    const checkpoint = await opened.restore();
    const lost = opened.leaves.filter(({ path }) => checkpoint.leaf("model", path.slice("model/".length)) === undefined);
    expect([opened.leaves.length, lost]).toEqual([1000, []]);
  });
});

describe("a caller's own storage", () => {
  const folder = nodeStorage(join(fixtures, "digits/checkpoints"));

  it("that gives whole files in place of ranges is told so, since they would pass for other bytes", async () => {
    const whole: ReadableStorage = { read: (path) => folder.read(path), list: folder.list };
    const { items } = await new OrbaxCheckpointStore(folder).open(1200);
    const kernels = items.model?.leaves.filter(({ path }) => path.includes("kernel")).map(({ path }) => path);
    expect(kernels).toEqual(["hidden1/kernel/value", "hidden2/kernel/value", "out/kernel/value"]);
    const layer = { kernel: { value: null }, bias: { value: null } };
    const model = { hidden1: layer, hidden2: { ...layer, kernel: { value: shapeDtypeStruct([128, 64], "float32") } }, out: layer };
    const templates = { model, optimizer: null };
    await expect(new OrbaxCheckpointStore(whole).restore(1200, { templates })).rejects.toThrow(/options\.range/);
  });

  it("that never answers does not hold up an abort", async () => {
    const never = () => new Promise<never>(() => {});
    const store = new OrbaxCheckpointStore({ read: never, list: never });
    for (const call of [store.restore(1, { signal: AbortSignal.timeout(5) }), store.listSteps({ signal: AbortSignal.timeout(5) })])
      await expect(call).rejects.toMatchObject({ name: "TimeoutError" });
  });
});

describe("a device", () => {
  it.each([
    ["a Promise", Promise.resolve({})],
    ["a GPUAdapter", { limits: {}, requestDevice: () => {}, [Symbol.toStringTag]: "GPUAdapter" }],
    ["an object", {}],
    ['"gpu"', "gpu"],
  ])("is not %s", async (what, device) => {
    const given = { device: device as never };
    const [all, one] = [{}, { templates: { model: { out: { bias: { value: shapeDtypeStruct([10], "float32", given) } } } } }];
    for (const [options, named] of [
      [{ ...all, ...given }, "^restore's option device"],
      [{ ...one, missing: "skip" }, "^the device of model/"],
    ] as const) {
      await expect(storeOf("digits").restore(400, options)).rejects.toMatchObject({
        name: "CheckpointValueError",
        message: expect.stringMatching(new RegExp(`${named}.*await adapter.requestDevice.*, not ${what}$`)),
      });
    }
  });
});
