import { join } from "node:path";
import { describe, expect, expectTypeOf, it } from "vitest";
import { StorageError } from "../errors.js";
import { FakeDevice } from "../gpu/fakeDevice.testing.js";
import type { GpuArray } from "../gpu/gpuArray.js";
import { memoryStorage } from "../storage/memory.js";
import { nodeStorage } from "../storage/node.js";
import type { ReadableStorage } from "../storage/storage.js";
import { copySteps } from "./copy/copySteps.js";
import { type Files, filesOfStep, fixtureFolder } from "./fixtureSteps.testing.js";
import { jsonBytes } from "./handmadeStep.testing.js";
import { openCheckpoint } from "./openCheckpoint.js";
import { restoredLeaves, sameLeaves } from "./restoredLeaves.testing.js";
import { OrbaxCheckpointStore } from "./store.js";
import { shapeDtypeStruct } from "./template/template.js";

const fixture = (path: string) => nodeStorage(join(fixtureFolder, path));

/** Files of plain Orbax's step 1, moved to where `place` says. */
const movedFiles = (place: (path: string) => string): Files =>
  new Map([...filesOfStep("plain-orbax", 1)].map(([path, bytes]) => [place(path), bytes]));

/** All files of a place, at the paths that are given for theirs. */
async function filesBelow(place: ReadableStorage, pathOf: (path: string) => string, prefix = ""): Promise<[string, Uint8Array][]> {
  const { files, directories } = await place.list(prefix);
  const here = files.map(
    async (name) => [pathOf(prefix + name), (await place.read(prefix + name)) ?? new Uint8Array()] as [string, Uint8Array],
  );
  const below = await Promise.all(directories.map((name) => filesBelow(place, pathOf, `${prefix}${name}/`)));
  return [...(await Promise.all(here)), ...below.flat()];
}

const tree = { a: { dtype: "int32", shape: [8] }, b: { c: { dtype: "int32", shape: [3] } } };

describe("what is given is found out:", () => {
  it.each([
    ["a root", "plain-orbax/checkpoints", { kind: "root", step: 1, item: "default", path: "1/default" }],
    ["a step", "plain-orbax/checkpoints/1", { kind: "step", step: 1, item: "default", path: "default" }],
    ["an item", "plain-orbax/checkpoints/1/default", { kind: "item", step: undefined, item: "default", path: "" }],
    [
      "a root of several items, of which one is a tree",
      "named-items/checkpoints",
      { kind: "root", step: 1, item: "state", path: "1/state" },
    ],
  ])("%s", async (_, path, facts) => {
    const opened = await openCheckpoint(fixture(path));
    expect(opened).toMatchObject({ ...facts, layout: { tree: "metadata", arrays: ["ocdbt"], databases: "single", zarr: [2] } });
    expect(await opened.restore()).toMatchObject(tree);
  });

  it("a checkpoint that was saved to a path", async () => {
    const direct = movedFiles((path) => path.replace(/^1\/(default\/)?/, ""));
    const opened = await openCheckpoint(memoryStorage(direct));
    expect(opened).toMatchObject({ kind: "direct", step: undefined, item: undefined, path: "" });
    expect(opened.metadata.commitTimestampNsecs).toBe(1795992549587168678n);
    expect(await opened.restore()).toMatchObject(tree);
  });

  it("a root of such", async () => {
    const files = movedFiles((path) => path.replace(/^1\/(default\/)?/, "run_0007/"));
    const opened = await openCheckpoint(memoryStorage(files));
    expect(opened).toMatchObject({ kind: "root", step: 7, item: undefined, path: "run_0007" });
    expect(opened.metadata.commitTimestampNsecs).toBe(1795992549587168678n);
    expect(await opened.restore()).toMatchObject(tree);
    await expect(openCheckpoint(memoryStorage(files), { item: "default" })).rejects.toThrow(/run_0007 is a checkpoint without items/);
  });

  it("a root of the files that flax wrote", async () => {
    const opened = await openCheckpoint(fixture("state-files"), { step: 0 });
    expect(opened).toMatchObject({ kind: "root", step: 0, item: undefined, path: "checkpoint_0", layout: { tree: "msgpack" } });
    expect(await opened.restore()).toMatchObject({ arrays: { float32: { dtype: "float32", shape: [2, 3] } } });
    expect(await openCheckpoint(fixture("state-files"))).toMatchObject({ step: 2, path: "checkpoint_2" });
    await expect(openCheckpoint(fixture("state-files"), { item: "x" })).rejects.toThrow(/checkpoint_2 is a checkpoint without items/);
  });

  it("a step of v1, of which state is taken, else pytree, else the first tree", async () => {
    const named = (...names: readonly string[]) => {
      const files = names.map((name) => movedFiles((path) => path.replace(/^1\/(default\/)?/, (_, item) => (item ? `${name}/` : ""))));
      return memoryStorage(new Map([...files.flatMap((each) => [...each]), ["orbax.checkpoint", new Uint8Array()]]));
    };
    expect(await openCheckpoint(named("a", "pytree", "state"))).toMatchObject({ kind: "v1", item: "state" });
    expect(await openCheckpoint(named("a", "pytree"))).toMatchObject({ kind: "v1", item: "pytree" });
    expect(await openCheckpoint(named("zoo", "foo"))).toMatchObject({ kind: "v1", item: "foo" });
    expect(await openCheckpoint(named("zoo", "foo"), { item: "zoo" })).toMatchObject({ kind: "v1", item: "zoo" });
  });

  it("the database of a process, of which a storage does not tell whether it is merged", async () => {
    const opened = await openCheckpoint(fixture("plain-orbax/checkpoints/1/default/ocdbt.process_0"));
    expect(opened).toMatchObject({ kind: "process", item: undefined, layout: { tree: "names" } });
    expect(opened.leaves.map(({ path }) => path)).toEqual(["a", "b.c"]);
  });

  it("the database of one of two processes, in which chunks are missing that the other wrote: none is made up", async () => {
    for (const name of ["two-processes", "two-processes-unmerged"]) {
      const opened = await openCheckpoint(fixture(`generations/0.12.8/checkpoints/${name}/ocdbt.process_0`));
      expect(opened.kind).toBe("process");
      expect(Object.keys((await opened.restore({ select: ["host"] })) as object)).toEqual(["host"]);
      await expect(opened.restore()).rejects.toMatchObject({
        name: "CorruptCheckpointError",
        received: expect.stringMatching(/one process, since another wrote it: give the folder of the item/),
      });
    }
  });

  it("an item that is named, in a folder that holds other things as well, as published weights do", async () => {
    const direct = [...movedFiles((path) => path.replace("1/default/", "params/"))];
    const files = new Map([...direct, ["params/_CHECKPOINT_METADATA", jsonBytes({})], ["assets/norm.json", jsonBytes({})]]);
    files.delete("1/_CHECKPOINT_METADATA");
    files.delete("1/commit_success.txt");
    expect(await openCheckpoint(memoryStorage(files), { item: "params" })).toMatchObject({ kind: "step", item: "params", path: "params" });
    await expect(openCheckpoint(memoryStorage(files))).rejects.toThrow(/above the checkpoints.*"params"/);
    await expect(openCheckpoint(memoryStorage(files), { item: "assets" })).rejects.toThrow(/item "assets".*unknown kind/);
  });

  it("a step from before there was a file that says so", async () => {
    const files = movedFiles((path) => path.slice(2));
    files.delete("_CHECKPOINT_METADATA");
    expect(await openCheckpoint(memoryStorage(files))).toMatchObject({ kind: "step", item: "default" });
  });
});

describe("the latest step of a root", () => {
  const step = (name: string) => [...movedFiles((path) => path.replace(/^1/, name))];
  const rootOf = (...names: readonly string[]) => memoryStorage(new Map(names.flatMap(step)));
  const uncommitted = [
    "_CHECKPOINT_METADATA",
    new TextEncoder().encode('{"init_timestamp_nsecs": 1, "commit_timestamp_nsecs": null}'),
  ] as const;

  it.each([
    [["9", "10"], "10"],
    [["step_9", "step_10"], "step_10"],
    [["ckpt_000009", "ckpt_000010"], "ckpt_000010"],
    [["0009", "0010"], "0010"],
    [["10", "11.orbax-checkpoint-tmp", "12.orbax-checkpoint-tmp-68", "13.orbax-checkpoint-tmp-1795987909277475"], "10"],
    [["10", "step-100", "11.backup"], "10"],
  ])("of %j is %s", async (names, path) => {
    expect(await openCheckpoint(rootOf(...names))).toMatchObject({ kind: "root", step: 10, path: `${path}/default` });
  });

  it("is opened by its number, whatever it is called", async () => {
    expect(await openCheckpoint(rootOf("ckpt_000009", "ckpt_000010"), { step: 9 })).toMatchObject({ step: 9, path: "ckpt_000009/default" });
    expect(await openCheckpoint(rootOf("9", "x_9"), { step: 9 })).toMatchObject({ path: "9/default" });
    for (const options of [{}, { step: 9 }])
      await expect(openCheckpoint(rootOf("x_9", "y_9"), options)).rejects.toThrow(/"x_9" and "y_9" in memory both stand for step 9/);
  });

  it("is the one in which something is whole, where saves begin under their final name", async () => {
    const files = new Map([...step("9"), ...step("10")]);
    files.set(`10/${uncommitted[0]}`, uncommitted[1]);
    expect(await openCheckpoint(memoryStorage(files))).toMatchObject({ step: 10 });
    files.delete("10/commit_success.txt");
    // Copied from where markers of commits are not needed, or its data say that it is complete.
    expect(await openCheckpoint(memoryStorage(files))).toMatchObject({ step: 10 });
    files.delete("10/default/manifest.ocdbt");
    expect(await openCheckpoint(memoryStorage(files))).toMatchObject({ step: 9 });
    expect(await openCheckpoint(memoryStorage(files), { step: 10 })).toMatchObject({ step: 10, layout: { databases: "processes" } });
    const only = new Map([...files].filter(([path]) => path.startsWith("10/")));
    expect(await openCheckpoint(memoryStorage(only))).toMatchObject({ step: 10, layout: { databases: "processes" } });
  });

  // Orbax 0.12.8 on a disk: all_steps() has each of these, latest_step() is 10, and restore(10) gives the arrays, or fails where there are none;
  // so does substrax.
  describe("that was begun and not committed is a step for every call", () => {
    const begun = (files: Iterable<readonly [string, Uint8Array]>) => {
      const inside = [...files].filter(([path]) => !path.endsWith("commit_success.txt"));
      return new Map([...step("9"), ...inside, [`10/${uncommitted[0]}`, uncommitted[1]] as const]);
    };
    const ofTen = (folder: string) => filesBelow(fixture(folder), (path) => `10/default/${path}`);

    it.each([
      ["with its database", async () => step("10")],
      ["with arrays in folders", () => ofTen("generations/0.12.8/checkpoints/zarr3-directories")],
      ["with one array", () => ofTen("zarr-python/2/arrays/compressor_none")],
      ["with a state file", () => ofTen("generations/0.4.8/checkpoints/directories-slashes")],
    ])("%s", async (_, files) => {
      const storage = memoryStorage(begun(await files()));
      const store = new OrbaxCheckpointStore(storage);
      expect([await store.listSteps(), await store.latestStep()]).toEqual([[9, 10], 10]);
      for (const options of [{}, { step: 10 }]) {
        const opened = await openCheckpoint(storage, options);
        expect(opened).toMatchObject({ kind: "root", step: 10 });
        expect(restoredLeaves(await opened.restore()).length).toBeGreaterThan(0);
      }
      const to = memoryStorage();
      await copySteps(storage, to);
      expect(await new OrbaxCheckpointStore(to).listSteps()).toEqual([9, 10]);
    });

    it("with JSON alone", async () => {
      const json = new TextEncoder().encode('{"a": 1}');
      const opened = await openCheckpoint(memoryStorage(begun([["10/config/metadata", json]])), { item: "config" });
      expect(await opened.restore()).toEqual({ a: 1 });
    });

    it("with nothing, which is opened by its number, and passed over without", async () => {
      const storage = memoryStorage(begun([]));
      expect(await new OrbaxCheckpointStore(storage).latestStep()).toBe(10);
      expect(await openCheckpoint(storage)).toMatchObject({ step: 9 });
      await expect(openCheckpoint(storage, { step: 10 })).rejects.toThrow("memory/10 holds no item");
      const only = memoryStorage({ [`10/${uncommitted[0]}`]: uncommitted[1] });
      await expect(openCheckpoint(only)).rejects.toThrow("memory/10 holds no item");
    });
  });

  it("is a tree where its files could be those of a single array, and the class that wrote them is one of trees", async () => {
    const restored = await (await openCheckpoint(fixture("array-alike/checkpoint"))).restore();
    expect(restored).toMatchObject({ checkpoint: { data: Int32Array.of(0, 1, 2) } });
  });

  it.each([["7.orbax-checkpoint-tmp"], ["step_7.orbax-checkpoint-tmp-3"], ["7.partial_save"]])("unfinished in %s says so", async (name) => {
    await expect(openCheckpoint(rootOf(name))).rejects.toMatchObject({
      name: "UnsupportedCheckpointError",
      message: expect.stringMatching(/holds only unfinished steps/),
    });
    await expect(openCheckpoint(rootOf("5", name), { step: 7 })).rejects.toMatchObject({
      name: "UnsupportedCheckpointError",
      message: expect.stringMatching(/step 7 under memory is an unfinished step.*the latest that is finished is 5/),
    });
  });

  it("is one that was saved here, also before its files are moved to their place", async () => {
    const storage = memoryStorage();
    const store = new OrbaxCheckpointStore(storage);
    await store.save(3, { model: { w: new Float32Array([1, 2]) } });
    const copy = new Map<string, Uint8Array>();
    const bytesOf = async (path: string) => (await storage.read(path)) ?? new Uint8Array();
    const visit = async (prefix: string): Promise<void> => {
      const { files, directories } = await storage.list(prefix);
      for (const file of files) copy.set(prefix + file, await bytesOf(prefix + file));
      for (const folder of directories) await visit(`${prefix}${folder}/`);
    };
    await visit("");
    const folder = "3.orbax-checkpoint-tmp-webgpu-1-0123456789abcdef";
    const files = [...copy.keys()].map((path) => path.slice("3/".length));
    const marker = { version: 1, identity: new TextDecoder().decode(copy.get("3/_CHECKPOINT_METADATA")), replaces: [], files };
    const waiting = new Map([...copy].map(([path, bytes]) => [path.replace(/^3/, folder), bytes]));
    waiting.set(`${folder}/orbax-webgpu-commit.json`, new TextEncoder().encode(JSON.stringify(marker)));
    const { read, list } = memoryStorage(waiting);
    for (const place of [{ read, list }, memoryStorage(waiting)]) {
      const opened = await openCheckpoint(place, { item: "model" });
      expect(opened).toMatchObject({ step: 3, path: "3/model" });
      expect(await opened.restore()).toMatchObject({ w: { data: new Float32Array([1, 2]) } });
    }
  });
});

describe("an item", () => {
  it("has to be named where there are several trees", async () => {
    await expect(openCheckpoint(fixture("digits/checkpoints"))).rejects.toMatchObject({
      name: "CheckpointValueError",
      message: expect.stringMatching(/1200 holds several items: "data_iterator" \(a tree of arrays\), "dtypes" \(JSON\).*option item/),
    });
  });

  it("that is not there is an error that lists those that are", async () => {
    await expect(openCheckpoint(fixture("named-items/checkpoints"), { item: "model" })).rejects.toMatchObject({
      name: "CheckpointValueError",
      message: expect.stringMatching(/has no item "model"; it holds "metadata" \(JSON\), "state" \(a tree of arrays\)$/),
    });
  });

  it("of JSON gives its value", async () => {
    const opened = await openCheckpoint(fixture("named-items/checkpoints"), { item: "metadata" });
    expect(opened).toMatchObject({ kind: "root", item: "metadata", leaves: [], layout: { tree: "json" } });
    expect(opened.requiredLimits()).toEqual((await openCheckpoint(fixture("plain-orbax/checkpoints"))).requiredLimits());
    const value = await opened.restore();
    expect(value).toEqual(JSON.parse(new TextDecoder().decode(filesOfStep("named-items", 1).get("1/metadata/metadata"))));
    expect(await opened.restore()).not.toBe(value);
    await expect(opened.restore({ template: { a: null } })).rejects.toThrow(/is JSON.*leave template out/);
    opened.destroy();
  });

  it.each([
    [
      "metrics",
      "metrics",
      '{"loss": NaN, "best": -Infinity, "seen": 18446744073709551615}',
      { loss: Number.NaN, best: Number.NEGATIVE_INFINITY, seen: 2n ** 64n - 1n },
    ],
    ["config", "data.json", '{"a": [1]}', { a: [1] }],
    ["config", "metadata", "null", null],
  ])("of JSON called %s lies in a file %s", async (item, file, text, value) => {
    const files = { _CHECKPOINT_METADATA: new TextEncoder().encode("{}"), [`${item}/${file}`]: new TextEncoder().encode(text) };
    expect(await (await openCheckpoint(memoryStorage(files))).restore()).toEqual(value);
    expect(await (await openCheckpoint(memoryStorage(files), { item })).restore()).toEqual(value);
  });

  it("of substrax comes without its node, and its recorded dtypes count", async () => {
    const opened = await openCheckpoint(fixture("digits/checkpoints"), { step: 400, item: "model" });
    const { items } = await new OrbaxCheckpointStore(memoryStorage(filesOfStep("digits", 400))).restore(400);
    expect(sameLeaves(restoredLeaves({ model: await opened.restore() }), restoredLeaves({ model: items.model }))).toBe(true);
    expect(opened.metadata.record).toMatchObject({ step: 400, epoch: expect.any(Number) });
    expect(opened.metadata.metrics).toEqual(opened.metadata.record?.metrics);
    const wrong = await openCheckpoint(fixture("dtypes-item/checkpoints"), { step: 5, item: "model" });
    await expect(wrong.restore()).rejects.toMatchObject({ name: "CheckpointDtypeMismatchError" });
  });

  it("opened alone has the node that substrax gave it, since nothing tells of it there", async () => {
    const opened = await openCheckpoint(fixture("digits/checkpoints/400/model"));
    expect(opened.leaves[0]?.path).toBe("tree/hidden1/bias/value");
  });
});

describe("an option that makes no sense", () => {
  it.each([
    ["plain-orbax/checkpoints/1", { step: 2 }, /is a step itself: leave the option step out/],
    ["plain-orbax/checkpoints/1/default", { step: 1 }, /is an item itself: leave the option step out/],
    ["plain-orbax/checkpoints/1/default", { item: "model" }, /is an item itself: leave the option item out/],
    ["plain-orbax/checkpoints", { step: -1 }, /option step is a non-negative integer up to 2\^53 - 1, not -1/],
    ["plain-orbax/checkpoints", { step: 1.5 }, /not 1.5/],
    ["plain-orbax/checkpoints", { item: "" }, /option item is the name of a folder/],
    ["plain-orbax/checkpoints", { item: "../1" }, /option item is the name of a folder/],
    ["plain-orbax/checkpoints", { generation: 0 }, /option generation is a positive integer/],
    ["plain-orbax/checkpoints", { generation: 99 }, /generation 99/],
    ["plain-orbax/checkpoints", { readConcurrentBytes: 1 }, /readConcurrentBytes/],
  ] as const)("of %s is refused: %j", async (path, options, message) => {
    await expect(openCheckpoint(fixture(path), options)).rejects.toMatchObject({
      name: "CheckpointValueError",
      message: expect.stringMatching(message),
    });
  });

  it("is not one that says what is given anyway", async () => {
    expect(await openCheckpoint(fixture("plain-orbax/checkpoints/1"), { step: 1, item: "default" })).toMatchObject({ kind: "step" });
    expect(await openCheckpoint(fixture("plain-orbax/checkpoints/1/default"), { item: "default" })).toMatchObject({ kind: "item" });
  });
});

describe("an opened checkpoint", () => {
  it("tells of its leaves, with the bytes that they take where they are stored", async () => {
    const { leaves } = await openCheckpoint(fixture("plain-orbax/checkpoints"));
    const files = filesOfStep("plain-orbax", 1);
    expect(leaves).toEqual([
      expect.objectContaining({
        path: "a",
        dtype: "int32",
        shape: [8],
        bytes: 32,
        storedBytes: 41,
        chunkShape: [8],
        chunks: 1,
        codec: "zstd",
      }),
      expect.objectContaining({ path: "b/c", bytes: 12, storedBytes: 21 }),
    ]);
    expect([...files.values()].reduce((sum, { length }) => sum + length, 0)).toBeGreaterThan(62);
  });

  it("restores onto the device that it was opened for, typed by the template", async () => {
    const device = new FakeDevice();
    const opened = await openCheckpoint(fixture("plain-orbax/checkpoints"), { device: device.gpu });
    const restored = await opened.restore({ template: { a: shapeDtypeStruct([8], "int32"), b: { c: null } } });
    expectTypeOf(restored.a).toEqualTypeOf<GpuArray<"int32">>();
    expect(device.alive).toHaveLength(1);
    opened.destroy();
    expect(device.alive).toEqual([]);
  });

  it("is read on as it was opened, also where a file changed and newer steps have come", async () => {
    const files = filesOfStep("digits", 400);
    const place = memoryStorage(files);
    let isChanged = false;
    const storage: ReadableStorage = {
      list: (prefix) => place.list(prefix),
      async read(path, options) {
        if (isChanged && options?.range !== undefined) {
          isChanged = false;
          throw new StorageError({ path, reason: "changed", message: "changed" });
        }
        return place.read(path, options);
      },
    };
    const opened = await openCheckpoint(storage, { item: "model" });
    for (const [path, bytes] of [...files])
      await place.write(path.replace(/^400/, "500"), path.endsWith("_METADATA") ? new Uint8Array() : bytes);
    isChanged = true;
    expect(await opened.restore()).toMatchObject({ hidden1: { bias: { value: { shape: [128] } } } });
    expect([isChanged, opened.step]).toEqual([false, 400]);
    await expect(openCheckpoint(storage, { item: "model" })).rejects.toThrow(/^500\/model\/_METADATA/);
  });

  it("stops to open when it is told to", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(openCheckpoint(fixture("plain-orbax/checkpoints"), { signal })).rejects.toThrow("enough");
  });
});
