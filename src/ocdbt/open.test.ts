import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { StorageError } from "../errors.js";
import { memoryStorage } from "../storage/memory.js";
import type { ReadableStorage } from "../storage/storage.js";
import { streamRange } from "../storage/streamRange.js";
import { child, indirect, inline, interiorOf, leafOf, manifestOf, ownFiles, storageOf } from "./handmade.testing.js";
import { type OcdbtDatabase, type OcdbtOptions, openOcdbt } from "./open.js";

const fixtures = join(import.meta.dirname, "../../e2e/fixtures/data");

function filesOf(folder: string): Map<string, Uint8Array> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => statSync(join(folder, path)).isFile());
  return new Map(paths.map((path) => [path, new Uint8Array(readFileSync(join(folder, path)))]));
}

const database = (name: string) => filesOf(join(fixtures, "ocdbt", name, "database"));

async function opened(storage: ReadableStorage, options?: OcdbtOptions): Promise<OcdbtDatabase> {
  const found = await openOcdbt(storage, options);
  if (found === undefined) throw new Error("no database");
  return found;
}

interface Bytes {
  readonly byteLength: number;
  readonly hex?: string;
  readonly sha256?: string;
}

interface ExpectedEntry extends Bytes {
  readonly key?: string;
  readonly keyHex?: string;
  readonly keyBytes?: Bytes;
}

interface Expected {
  readonly entries: readonly ExpectedEntry[];
  readonly generations?: Readonly<Record<string, readonly ExpectedEntry[]>>;
}

const expectedOf = (name: string): Expected => JSON.parse(readFileSync(join(fixtures, "ocdbt", name, "expected.json"), "utf8"));

function describeBytes(bytes: Uint8Array, { hex }: Bytes): Bytes {
  const text =
    hex === undefined ? { sha256: createHash("sha256").update(bytes).digest("hex") } : { hex: Buffer.from(bytes).toString("hex") };
  return { byteLength: bytes.length, ...text };
}

const utf8 = (text: string) => new TextEncoder().encode(text);

async function listed(keys: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const key of keys) all.push(key);
  return all;
}

/** Counts what a storage is asked for. */
function counted(storage: ReadableStorage) {
  const reads: string[] = [];
  const counting: ReadableStorage = {
    ...storage,
    read(path, options) {
      reads.push(options?.range === undefined ? path : `${path} ${options.range.offset}+${options.range.length}`);
      return storage.read(path, options);
    },
  };
  return { storage: counting, reads };
}

async function checkEntries(found: OcdbtDatabase, entries: readonly ExpectedEntry[]): Promise<void> {
  const keys = await listed(found.keys(""));
  expect(keys.length).toBe(entries.length);
  for (const [i, entry] of entries.entries()) {
    const key = keys[i] ?? "";
    if (entry.keyBytes === undefined) expect(key).toBe(entry.key);
    else expect(describeBytes(utf8(key), entry.keyBytes)).toEqual(entry.keyBytes);
    const value = await found.read(key);
    const { byteLength, hex, sha256 } = entry;
    expect(value && describeBytes(value, entry)).toEqual(hex === undefined ? { byteLength, sha256 } : { byteLength, hex });
  }
}

const databases = readdirSync(join(fixtures, "ocdbt")).filter((name) => name !== "binary-keys");

describe.each(databases)("the database %s that TensorStore wrote", (name) => {
  const expected = expectedOf(name);

  test("gives every key and value, in order", async () => {
    await checkEntries(await opened(memoryStorage(database(name))), expected.entries);
  });

  test("reads each node once, from one caller or many", async () => {
    const { storage, reads } = counted(memoryStorage(database(name)));
    const found = await opened(storage);
    const keys = expected.entries.map(({ key }) => key ?? "");
    await Promise.all(keys.map((key) => found.locate(key)));
    for (const key of keys) await found.locate(key);
    await listed(found.keys(""));
    expect(new Set(reads).size).toBe(reads.length);
  });

  test("reads the same with a cache for no more than one node", async () => {
    await checkEntries(await opened(memoryStorage(database(name)), { nodeCacheBytes: 0 }), expected.entries);
  });

  for (const [generation, entries] of Object.entries(expected.generations ?? {})) {
    test(`gives generation ${generation}`, async () => {
      await checkEntries(await opened(memoryStorage(database(name)), { generation: BigInt(generation) }), entries);
    });
  }
});

test("there is no database without a manifest", async () => {
  expect(await openOcdbt(memoryStorage({ "d/0": new Uint8Array(5) }))).toBeUndefined();
});

test("keys that are not UTF-8 cannot be paths, and say so", async () => {
  const found = await opened(memoryStorage(database("binary-keys")));
  await expect(listed(found.keys(""))).rejects.toThrow("a key that is not UTF-8 (00 ff)");
});

describe("as a storage", () => {
  const value = Uint8Array.from({ length: 100 }, (_, i) => i);
  const root = leafOf(
    { "a/.zarray": inline("{}"), "a/0.0": indirect(10n, 50n), "a/b/c": inline("deep"), ab: indirect(3n, 0n, 1), "ü/0": inline("ü") },
    ownFiles("data", "never written"),
  );
  const storage = () => storageOf(root, { data: value });

  test("reads values whole and in parts, and nothing where there is no key", async () => {
    const found = await opened(storage());
    expect(await found.read("a/.zarray")).toEqual(utf8("{}"));
    expect(await found.read("a/0.0")).toEqual(value.subarray(10, 60));
    expect(await found.read("a/0.0", { range: { offset: 5, length: 7 } })).toEqual(value.subarray(15, 22));
    expect(await found.read("a/b/c", { range: { offset: 1, length: 2 } })).toEqual(utf8("ee"));
    expect(await found.read("a/b/c", { range: { offset: 4, length: 0 } })).toEqual(utf8(""));
    expect(await found.read("a/1.0")).toBeUndefined();
    expect(await found.read("")).toBeUndefined();
  });

  test("opens no file for an empty value", async () => {
    const found = await opened(storage());
    expect(await found.read("ab")).toEqual(new Uint8Array());
    expect(await found.locate("ab")).toMatchObject({ inline: new Uint8Array(), range: { length: 0 } });
  });

  test("locates values without reading them", async () => {
    const { storage: counting, reads } = counted(storage());
    const found = await opened(counting);
    expect(await found.locate("a/0.0")).toMatchObject({ path: "data", range: { offset: 10, length: 50 } });
    expect(await found.locate("a/b/c")).toMatchObject({ path: "root", range: { offset: 0, length: 4 }, inline: utf8("deep") });
    expect(await found.locate("nowhere")).toBeUndefined();
    expect(reads).toEqual(["manifest.ocdbt", `root 0+${root.length}`]);
  });

  test("lists one level", async () => {
    const found = await opened(storage());
    expect(await found.list("")).toEqual({ files: ["ab"], directories: ["a", "ü"] });
    expect(await found.list("a/")).toEqual({ files: [".zarray", "0.0"], directories: ["b"] });
    expect(await found.list("a/b/c/")).toEqual({ files: [], directories: [] });
    expect(await found.list("none/")).toEqual({ files: [], directories: [] });
  });

  test("gives keys by prefix, in the order of their bytes", async () => {
    const found = await opened(storage());
    expect(await listed(found.keys("a"))).toEqual(["a/.zarray", "a/0.0", "a/b/c", "ab"]);
    expect(await listed(found.keys("ü"))).toEqual(["ü/0"]);
    expect(await listed(found.keys("b"))).toEqual([]);
  });

  test("refuses ranges past a value's end", async () => {
    const found = await opened(storage());
    for (const key of ["a/0.0", "a/b/c"]) {
      await expect(found.read(key, { range: { offset: 49, length: 2 } })).rejects.toMatchObject({ name: "StorageError", reason: "length" });
    }
  });

  test("streams values, and parts of them", async () => {
    const found = await opened(storage());
    const streamed = async (key: string, offset: number, length: number) => {
      const parts: Uint8Array[] = [];
      for await (const piece of streamRange(found, key, { offset, length })) parts.push(piece.slice());
      return new Uint8Array(Buffer.concat(parts));
    };
    expect(await streamed("a/0.0", 0, 50)).toEqual(value.subarray(10, 60));
    expect(await streamed("a/0.0", 8, 2)).toEqual(value.subarray(18, 20));
    expect(await streamed("a/b/c", 1, 3)).toEqual(utf8("eep"));
    await expect(streamed("a/0.0", 8, 50)).rejects.toMatchObject({ reason: "length" });
    await expect(streamed("nowhere", 0, 1)).rejects.toMatchObject({ reason: "length" });
  });

  test("what a caller keeps of a small value does not change with its node", async () => {
    const found = await opened(storage());
    (await found.read("a/b/c"))?.fill(0);
    expect(await found.read("a/b/c")).toEqual(utf8("deep"));
  });

  test("stops on abort, and reads on afterwards", async () => {
    const reason = new Error("stop");
    const signal = AbortSignal.abort(reason);
    await expect(openOcdbt(storage(), {}, { signal })).rejects.toBe(reason);
    const found = await opened(storage());
    await expect(found.read("a/0.0", { signal })).rejects.toBe(reason);
    await expect(found.locate("a/0.0", { signal })).rejects.toBe(reason);
    await expect(found.list("", { signal })).rejects.toBe(reason);
    expect(await found.read("a/0.0")).toEqual(value.subarray(10, 60));
  });

  test("reads a node again after it failed", async () => {
    const files = storage();
    let failing = true;
    const found = await opened({
      ...files,
      read: (path, options) => (failing && path === "root" ? Promise.reject(new Error("cut")) : files.read(path, options)),
    });
    await expect(found.read("ab")).rejects.toThrow("cut");
    failing = false;
    expect(await found.read("ab")).toEqual(new Uint8Array());
  });
});

describe("what a damaged index refers to", () => {
  const corrupt = (path: string, message: string | RegExp) => async (found: Promise<unknown>) => {
    await expect(found).rejects.toThrow(message);
    await expect(found).rejects.toMatchObject({ name: "CorruptCheckpointError", path });
  };
  const reading = async (storage: ReadableStorage, key = "key") => (await opened(storage)).read(key);

  test("a data file that is missing, or too short", async () => {
    const root = leafOf({ key: indirect(5n, 10n) }, [{ basePath: "ocdbt.process_0/", relativePath: "d/0" }]);
    const expectCorrupt = corrupt("ocdbt.process_0/d/0", /at byte 5: expected the data file that the index refers to .*ocdbt\.process_\*/);
    await expectCorrupt(reading(storageOf(root)));
    await corrupt(
      "ocdbt.process_0/d/0",
      "at byte 5: expected bytes 5 to 15, as the index says",
    )(reading(storageOf(root, { "ocdbt.process_0/d/0": new Uint8Array(14) })));
    expect(await reading(storageOf(root, { "ocdbt.process_0/d/0": new Uint8Array(15) }))).toHaveLength(10);
  });

  test("the same in a stream", async () => {
    const found = await opened(storageOf(leafOf({ key: indirect(5n, 10n) }, ownFiles("d/0")), { "d/0": new Uint8Array(14) }));
    const drain = async () => {
      for await (const _piece of streamRange(found, "key", { offset: 0, length: 10 }));
    };
    await corrupt("d/0", "expected bytes 5 to 15")(drain());
  });

  test("a node that is missing, too short, or another one", async () => {
    const leaf = leafOf({ key: inline("x") });
    await corrupt("root", "no such file")(reading(memoryStorage({ "manifest.ocdbt": manifestOf(leaf) })));
    await corrupt("root", "expected bytes 0 to")(reading(storageOf(leaf.subarray(0, -1), {}, { length: BigInt(leaf.length) })));
    await corrupt("root", "expected a B+tree node of height 1, received height 0")(reading(storageOf(leaf, {}, { height: 1 })));
  });

  test("bytes beyond 2^53, and nodes larger than any", async () => {
    await corrupt("root", "below 2^53")(reading(storageOf(leafOf({ key: indirect(2n ** 60n, 1n) }, ownFiles("d/0")))));
    await corrupt("manifest.ocdbt", "below 2^53")(reading(storageOf(leafOf({ key: inline("") }), {}, { offset: 2n ** 53n })));
    await corrupt("root", "at most 134217728 bytes")(reading(storageOf(leafOf({ key: inline("") }), {}, { length: 2n ** 40n })));
  });

  test("a child of another height, or one that begins before its place", async () => {
    const leaf = leafOf({ key: inline("x") });
    const twice = interiorOf([child("a", leaf)], ownFiles("leaf"), 2);
    await corrupt("leaf", "expected a B+tree node of height 1, received height 0")(reading(storageOf(twice, { leaf }, { height: 2 })));
    const late = interiorOf([child("kez", leaf)], ownFiles("leaf"));
    await corrupt("leaf", "a first key at or above the one in the parent node")(reading(storageOf(late, { leaf }, { height: 1 }), "kez"));
  });

  test("a tree that names one node again and again", async () => {
    const leaf = leafOf({ a: inline("x"), z: inline("y") });
    const loop = interiorOf([child("a", leaf), child("b", leaf)], ownFiles("leaf"));
    const found = await opened(storageOf(loop, { leaf }, { height: 1 }));
    await corrupt("leaf", /./)(listed(found.keys("")));
  });

  test("a small tree of more keys than any checkpoint has", { timeout: 60_000 }, async () => {
    const wide = Array.from({ length: 1000 }, (_, i) => String(i).padStart(3, "0"));
    let below = leafOf(Object.fromEntries(wide.map((key) => [`x${key}`, inline("")])));
    const files: Record<string, Uint8Array> = { level0: below };
    for (let height = 1; height <= 3; height++) {
      const children = wide.map((key) => child(`x${key}`, below, 0, 4));
      below = interiorOf(children, ownFiles(`level${height - 1}`), height);
      files[`level${height}`] = below;
    }
    const found = await opened(storageOf(below, files, { height: 3 }));
    await corrupt("level0", "expected at most 1048576 keys")(listed(found.keys("")));
  });

  test("an interior node leaves out what all keys below it share", async () => {
    const leaf = leafOf({ "": inline("self"), "/0": inline("zero") });
    const root = interiorOf([child("a", leafOf({ a: inline("1") }), 0), child("m.x", leaf, 1, 3)], ownFiles("first", "leaf"));
    const found = await opened(storageOf(root, { first: leafOf({ a: inline("1") }), leaf }, { height: 1 }));
    expect(await listed(found.keys(""))).toEqual(["a", "m.x", "m.x/0"]);
    expect(await listed(found.keys("m"))).toEqual(["m.x", "m.x/0"]);
    expect(await listed(found.keys("m.x/"))).toEqual(["m.x/0"]);
    expect(await found.read("m.x")).toEqual(utf8("self"));
    for (const key of ["m", "m.y", "m.w", "A"]) expect(await found.read(key)).toBeUndefined();
  });
});

test("base paths add up on the way down", async () => {
  const leaf = leafOf({ key: indirect(1n, 2n) }, [{ basePath: "inner/", relativePath: "d/1" }]);
  const root = interiorOf([child("key", leaf)], [{ basePath: "middle/", relativePath: "d/leaf" }]);
  const files = { "outer/d/root": root, "outer/middle/d/leaf": leaf, "outer/middle/inner/d/1": Uint8Array.of(1, 2, 3) };
  const file = { basePath: "outer/", relativePath: "d/root" };
  const found = await opened(memoryStorage({ ...files, "manifest.ocdbt": manifestOf(root, { height: 1, file }) }));
  expect(await found.read("key")).toEqual(Uint8Array.of(2, 3));
  expect(await found.locate("key")).toMatchObject({ path: "outer/middle/inner/d/1", range: { offset: 1, length: 2 } });
});

test("references to no file, or out of the folder, are refused", async () => {
  for (const path of ["../secret", ""]) {
    const found = await opened(storageOf(leafOf({ key: indirect(0n, 2n) }, ownFiles(path))));
    await expect(found.read("key"), path).rejects.toThrow("inside the database's folder");
  }
});

describe("generations", () => {
  test("says which there are where one is not", async () => {
    for (const generation of [0n, 303n, 2n ** 63n]) {
      await expect(openOcdbt(memoryStorage(database("generations")), { generation })).rejects.toThrow(
        `the database has no generation ${generation}; its latest is 301`,
      );
    }
  });

  test("a version-tree node that is missing or another one is corrupt", async () => {
    const files = database("generations");
    const opening = (changed: ReadonlyMap<string, Uint8Array>) => openOcdbt(memoryStorage(changed), { generation: 17n });
    const { storage, reads } = counted(memoryStorage(files));
    await openOcdbt(storage, { generation: 17n });
    const [path = ""] = (reads.at(-1) ?? "").split(" ");
    const without = new Map(files);
    without.delete(path);
    await expect(opening(without)).rejects.toMatchObject({ name: "CorruptCheckpointError", path });
    const damaged = new Map(files).set(
      path,
      (files.get(path) ?? new Uint8Array()).map((byte) => byte ^ 1),
    );
    await expect(opening(damaged)).rejects.toMatchObject({ name: "CorruptCheckpointError", path });
  });
});

describe("numbered manifests", () => {
  test("the latest one is read, with one listing", async () => {
    const { storage, reads } = counted(memoryStorage(database("numbered")));
    await opened(storage);
    expect(reads).toEqual(["manifest.ocdbt", "manifest.0000000000000015"]);
  });

  test("a storage that cannot list says so", async () => {
    const files = memoryStorage(database("numbered"));
    const refusal = new StorageError({ path: "", reason: "cannot-list", message: "nothing to list" });
    await expect(openOcdbt({ ...files, list: () => Promise.reject(refusal) })).rejects.toBe(refusal);
  });

  const newest = "manifest.00000000000000ff";
  const fileOf = (files: ReadonlyMap<string, Uint8Array>, path: string) => files.get(path) ?? new Uint8Array();

  test.each<[string, (files: Map<string, Uint8Array>) => void, string]>([
    ["none are there", (files) => [...files.keys()].map((path) => path.startsWith("manifest.0") && files.delete(path)), "<16 hex digits>"],
    ["the latest has another name", (files) => files.set(newest, fileOf(files, "manifest.0000000000000015")), "the generation of its name"],
    ["the latest is another database's", (files) => files.set(newest, fileOf(database("inline"), "manifest.ocdbt")), "the UUID of"],
    ["the latest holds no versions", (files) => files.set(newest, fileOf(files, "manifest.ocdbt")), "a manifest with versions"],
  ])("it is corrupt where %s", async (_, change, message) => {
    const files = database("numbered");
    change(files);
    await expect(openOcdbt(memoryStorage(files))).rejects.toThrow(message);
  });
});
