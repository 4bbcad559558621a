import { createHash } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import { memoryStorage } from "../storage/memory.js";
import type { ReadableStorage } from "../storage/storage.js";
import { streamRange } from "../storage/streamRange.js";
import { Pace } from "../tasks/pace.js";
import { counted, database, databaseNames, expectedJson, listed, opened } from "./databases.testing.js";
import { child, indirect, inline, interiorOf, leafOf, ownFiles, storageOf } from "./handmade.testing.js";
import { type OcdbtDatabase, openOcdbt } from "./open.js";

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

const expectedOf = (name: string): Expected => JSON.parse(expectedJson(name));

function describeBytes(bytes: Uint8Array, { hex }: Bytes): Bytes {
  const text =
    hex === undefined ? { sha256: createHash("sha256").update(bytes).digest("hex") } : { hex: Buffer.from(bytes).toString("hex") };
  return { byteLength: bytes.length, ...text };
}

const utf8 = (text: string) => new TextEncoder().encode(text);

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

describe.each(databaseNames.filter((name) => name !== "binary-keys"))("the database %s that TensorStore wrote", (name) => {
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

describe("many keys at once", () => {
  const value = Uint8Array.from({ length: 100 }, (_, i) => i);
  const leaf = leafOf({ "": inline("self"), "/0": indirect(10n, 50n), "/1": indirect(5n, 0n) }, ownFiles("data"));
  const other = leafOf({ a: inline("one"), b: inline("two") });
  const root = interiorOf([child("a", other), child("m.x", leaf, 1, 3)], ownFiles("other", "leaf"));
  const storage = () => storageOf(root, { data: value, leaf, other }, { height: 1 });

  test("are found as one by one, in the order they were asked for, missing ones too", async () => {
    const found = await opened(storage());
    const keys = ["m.x/0", "nowhere", "a", "m.x", "m.x/1", "b", "a", "m", "m.x/2", "A", "z"];
    const alone = await Promise.all(keys.map((key) => found.locate(key)));
    expect(await found.locateAll(keys)).toEqual(alone);
    expect(await found.readAll(keys)).toEqual(await Promise.all(keys.map((key) => found.read(key))));
    expect(await found.locateAll([])).toEqual([]);
  });

  test.each(databaseNames.filter((name) => name !== "binary-keys"))("are found in %s, each node read once", async (name) => {
    const { storage: counting, reads } = counted(memoryStorage(database(name)));
    const keys = await listed((await opened(memoryStorage(database(name)))).keys(""));
    const found = await opened(counting);
    const located = await found.locateAll(keys);
    expect(located.every((location) => location !== undefined)).toBe(true);
    expect(new Set(reads).size).toBe(reads.length);
    const nodes = reads.length;
    expect(await Promise.all(keys.map((key) => found.locate(key)))).toEqual(located);
    expect(reads.length).toBe(nodes);
  });

  test("ask for the nodes of one level together, and for no others", async () => {
    const { storage: counting, reads } = counted(storage());
    const answers: (() => void)[] = [];
    const waiting: ReadableStorage = {
      ...counting,
      read: async (path, options) => {
        if (path === "leaf" || path === "other") await new Promise<void>((resolve) => answers.push(resolve));
        return counting.read(path, options);
      },
    };
    const found = await opened(waiting);
    const located = found.locateAll(["a", "m.x", "m.x/0", "b"]);
    await expect.poll(() => answers.length).toBe(2);
    for (const answer of answers) answer();
    expect((await located).length).toBe(4);
    expect(reads.filter((read) => read.startsWith("leaf") || read.startsWith("other")).length).toBe(2);
    const again = await opened(counting);
    reads.length = 0;
    await again.locateAll(["a", "b"]);
    expect(reads.map((read) => read.split(" ")[0])).toEqual(["root", "other"]);
  });

  test("refuses values that are longer than they may be, before they are read", async () => {
    const found = await opened(storageOf(leafOf({ long: indirect(0n, 2n ** 40n) }, ownFiles("data")), { data: value }));
    const work = found.readAll(["long"], { longest: 1000 });
    await expect(work).rejects.toThrow('a value of at most 1000 bytes for key "long", received 1099511627776');
    await expect(work).rejects.toMatchObject({ name: "CorruptCheckpointError", path: "data" });
  });

  test("are found with rests where the caller's pace says so", async () => {
    const found = await opened(storage());
    const pace = new Pace();
    const due = vi.spyOn(pace, "dueForSmallStep", "get").mockReturnValue(true);
    const rest = vi.spyOn(pace, "rest").mockResolvedValue();
    expect((await found.locateAll(["a", "b", "m.x"], { pace })).every((location) => location !== undefined)).toBe(true);
    // Each key is looked for in the root and in one leaf.
    expect(due).toHaveBeenCalledTimes(6);
    expect(rest).toHaveBeenCalledTimes(6);
    await found.readAll(["a"], { pace });
    expect(rest).toHaveBeenCalledTimes(8);
  });

  test("stop on abort", async () => {
    const found = await opened(storage());
    await expect(found.locateAll(["a"], { signal: AbortSignal.abort(new Error("stop")) })).rejects.toThrow("stop");
  });
});
