import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ByteRange } from "../bytes/ranges.js";
import { isCheckpointError } from "../errors.js";
import type { ReadableStorage, WritableStorage } from "./storage.js";
import { streamRange } from "./streamRange.js";

/** A storage under test, filled with the files that were asked for. */
export interface ConformanceSubject {
  readonly storage: ReadableStorage;
  /** The same storage, where it can be written to. */
  readonly writable?: WritableStorage;
  readonly close?: () => Promise<void>;
}

/** Makes a storage that holds exactly these files. */
export type ConformanceFactory = (files: ReadonlyMap<string, Uint8Array>) => ConformanceSubject | Promise<ConformanceSubject>;

const bytesOf = (length: number) => Uint8Array.from({ length }, (_, index) => (index * 31 + (index >> 8)) % 256);

const names = [
  "naïve ünïcode 漢字 🎲",
  "100%",
  "%41",
  "a b",
  "#hash",
  "q?x=1&y",
  "semi;colon",
  "plus+",
  "'quote\"",
  ".hidden",
  "[x]",
  "~t",
  "a:b",
];

const large = bytesOf(3 * 1024 * 1024 + 17);

const files = new Map([
  ["top.bin", bytesOf(1000)],
  ["empty", new Uint8Array()],
  ["run/10/model/d/0a", large],
  ["run/10/_METADATA", new TextEncoder().encode("{}")],
  ["run/2/x", bytesOf(3)],
  ["run/note", bytesOf(5)],
  ["runner/other", bytesOf(4)],
  ...names.map((name, index): [string, Uint8Array] => [`odd/${name}/${name}`, bytesOf(20 + index)]),
]);

const invalidPaths = ["", "/top.bin", "top.bin/", "run//note", "../top.bin", "run/../top.bin", "./top.bin", "run/.", "..", "nul\0"];

/** Where a storage may differ. */
export interface ConformanceTraits {
  /** Any text is a path: what no folder could hold is absent there, not refused. */
  readonly anyPath?: boolean;
}

/** What every storage must do; run it in a test file of each storage. */
export function testStorage(name: string, make: ConformanceFactory, traits: ConformanceTraits = {}): void {
  describe(`${name} as a storage`, () => {
    let subject: ConformanceSubject;
    let storage: ReadableStorage;
    beforeEach(async () => {
      subject = await make(files);
      storage = subject.storage;
    });
    afterEach(() => subject.close?.());

    testReads(() => storage);
    testPaths(() => storage, traits.anyPath === true);
    testRanges(() => storage);
    testLists(() => storage);
    testAborts(() => storage);
    testWrites(() => subject.writable);
  });
}

function testReads(storage: () => ReadableStorage): void {
  test("reads whole files, empty ones too", async () => {
    for (const [path, bytes] of files) expect(equal(await storage().read(path), bytes), path).toBe(true);
  });

  test("reads exact ranges", async () => {
    const bytes = files.get("top.bin");
    for (const [offset, length] of [
      [0, 1],
      [0, 1000],
      [999, 1],
      [500, 250],
    ] as const) {
      const read = await storage().read("top.bin", { range: { offset, length } });
      expect(equal(read, bytes?.subarray(offset, offset + length)), `${offset}+${length}`).toBe(true);
    }
  });

  test("a range of no bytes is empty", async () => {
    for (const offset of [0, 500, 1000]) {
      expect(await storage().read("top.bin", { range: { offset, length: 0 } })).toHaveLength(0);
    }
    expect(await collect(storage(), "top.bin", { offset: 3, length: 0 })).toHaveLength(0);
  });

  test("an absent file, an absent folder, a folder and a path below a file are undefined", async () => {
    for (const path of ["nothing", "no/thing", "run", "run/10", "top.bin/below"]) {
      expect(await storage().read(path), path).toBeUndefined();
      expect(await storage().read(path, { range: { offset: 0, length: 1 } }), path).toBeUndefined();
    }
  });

  test("a range past the end is a length error", async () => {
    for (const range of [
      { offset: 0, length: 1001 },
      { offset: 999, length: 2 },
      { offset: 1000, length: 1 },
      { offset: 5000, length: 10 },
    ]) {
      const error = await storage()
        .read("top.bin", { range })
        .catch((reason: unknown) => reason);
      expect(isCheckpointError(error, "Storage") && [error.reason, error.path.endsWith("top.bin")]).toEqual(["length", true]);
      await expect(collect(storage(), "top.bin", range)).rejects.toMatchObject({ name: "StorageError", reason: "length" });
    }
  });

  test("concurrent reads of one file and of many give each its own bytes", async () => {
    const ranges = Array.from({ length: 40 }, (_, index) => ({ offset: index * 70_001, length: 1 + index * 97 }));
    const [parts, wholes] = await Promise.all([
      Promise.all(ranges.map((range) => storage().read("run/10/model/d/0a", { range }))),
      Promise.all([...files.keys()].map((path) => storage().read(path))),
    ]);
    for (const [index, { offset, length }] of ranges.entries()) {
      expect(equal(parts[index], large.subarray(offset, offset + length))).toBe(true);
    }
    for (const [index, bytes] of [...files.values()].entries()) expect(equal(wholes[index], bytes)).toBe(true);
  });

  test("streams a range in pieces that add up to it", async () => {
    const range = { offset: 12_345, length: 2 * 1024 * 1024 + 7 };
    expect(equal(await collect(storage(), "run/10/model/d/0a", range), large.subarray(12_345, 12_345 + range.length))).toBe(true);
  });

  test("a stream may be left early, and one of an absent file throws", async () => {
    for await (const piece of streamRange(storage(), "run/10/model/d/0a", { offset: 0, length: large.byteLength })) {
      expect(piece.byteLength).toBeGreaterThan(0);
      break;
    }
    const absent = collect(storage(), "nothing", { offset: 0, length: 1 }).catch((error: unknown) => isCheckpointError(error));
    expect(await absent).toBe(true);
  });
}

function testRanges(storage: () => ReadableStorage): void {
  test("ranges that are no ranges are refused", async () => {
    for (const range of [
      { offset: -1, length: 2 },
      { offset: 0, length: -1 },
      { offset: 0.5, length: 1 },
      { offset: Number.MAX_SAFE_INTEGER, length: 2 },
    ]) {
      await expect(storage().read("top.bin", { range })).rejects.toMatchObject({ name: "CheckpointValueError" });
    }
  });
}

function testPaths(storage: () => ReadableStorage, anyPath: boolean): void {
  test("paths that could leave a folder are refused, or absent where there is no folder", async () => {
    for (const path of invalidPaths) {
      if (anyPath) expect(await storage().read(path), path).toBeUndefined();
      else await expect(storage().read(path), path).rejects.toMatchObject({ name: "CheckpointValueError" });
    }
    for (const prefix of anyPath ? [] : ["run", "/", "../", "run//", "/run/"]) {
      await expect(storage().list(prefix), prefix).rejects.toMatchObject({ name: "CheckpointValueError" });
    }
  });
}

function testLists(storage: () => ReadableStorage): void {
  const list = async (prefix: string) => {
    const { files: found, directories } = await storage().list(prefix);
    return { files: [...found].sort(), directories: [...directories].sort() };
  };

  test("lists what stands directly below a prefix", async () => {
    expect(await list("run/")).toEqual({ files: ["note"], directories: ["10", "2"] });
    expect(await list("")).toEqual({ files: ["empty", "top.bin"], directories: ["odd", "run", "runner"] });
    expect(await list("odd/")).toEqual({ files: [], directories: [...names].sort() });
    for (const name of names) expect(await list(`odd/${name}/`)).toEqual({ files: [name], directories: [] });
  });

  test("lists nothing where nothing is", async () => {
    for (const prefix of ["nothing/", "no/thing/", "runn/"]) {
      expect(await list(prefix), prefix).toEqual({ files: [], directories: [] });
    }
  });
}

function testAborts(storage: () => ReadableStorage): void {
  const reason = new Error("enough");
  const range = { offset: 0, length: large.byteLength };

  test("rejects with the signal's reason when aborted before", async () => {
    const signal = AbortSignal.abort(reason);
    await expect(storage().read("top.bin", { signal })).rejects.toBe(reason);
    await expect(storage().read("top.bin", { signal, range: { offset: 0, length: 2 } })).rejects.toBe(reason);
    await expect(storage().list("", { signal })).rejects.toBe(reason);
    await expect(collect(storage(), "top.bin", { offset: 0, length: 2 }, signal)).rejects.toBe(reason);
  });

  test("a read that is aborted on its way rejects with the reason, or was already done", async () => {
    const controller = new AbortController();
    const reads = [undefined, range].map((asked) => storage().read("run/10/model/d/0a", { range: asked, signal: controller.signal }));
    const settled = Promise.allSettled(reads);
    await Promise.resolve();
    controller.abort(reason);
    for (const result of await settled) {
      if (result.status === "rejected") expect(result.reason).toBe(reason);
      else expect(result.value).toHaveLength(large.byteLength);
    }
  });

  test("a stream stops when aborted between two pieces", async () => {
    const controller = new AbortController();
    const read = async () => {
      let length = 0;
      for await (const piece of streamRange(storage(), "run/10/model/d/0a", range, { signal: controller.signal })) {
        length += piece.byteLength;
        controller.abort(reason);
      }
      return length;
    };
    await expect(read()).rejects.toBe(reason);
  });
}

function testWrites(writable: () => WritableStorage | undefined): void {
  const first = bytesOf(300);

  test("writes, replaces and removes, where it can be written to", async () => {
    const storage = writable();
    if (storage === undefined) return;
    await storage.write("new/folder/file", first);
    expect(equal(await storage.read("new/folder/file"), first)).toBe(true);
    await storage.write("new/folder/file", first.subarray(1, 4));
    expect(equal(await storage.read("new/folder/file"), first.subarray(1, 4))).toBe(true);
    expect(await storage.list("new/folder/")).toEqual({ files: ["file"], directories: [] });
    await storage.remove("new/folder/file");
    expect(await storage.read("new/folder/file")).toBeUndefined();
    await storage.remove("run");
    expect((await storage.list("")).directories).not.toContain("run");
    expect(equal(await storage.read("runner/other"), files.get("runner/other"))).toBe(true);
    await storage.remove("never/was");
  });

  test("what was read does not change with later writes, nor what was written with its source", async () => {
    const storage = writable();
    if (storage === undefined) return;
    const source = first.slice();
    await storage.write("aliased", source);
    source.fill(0);
    const read = await storage.read("aliased");
    const part = await storage.read("aliased", { range: { offset: 10, length: 5 } });
    await storage.write("aliased", bytesOf(300).reverse());
    expect(equal(read, first)).toBe(true);
    expect(equal(part, first.subarray(10, 15))).toBe(true);
  });

  test("writes and removals that must not be are refused", async () => {
    const storage = writable();
    if (storage === undefined) return;
    for (const path of invalidPaths) {
      await expect(storage.write(path, first), path).rejects.toMatchObject({ name: "CheckpointValueError" });
      await expect(storage.remove(path), path).rejects.toMatchObject({ name: "CheckpointValueError" });
    }
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(storage.write("late", first, { signal })).rejects.toBe(signal.reason);
    await expect(storage.remove("top.bin", { signal })).rejects.toBe(signal.reason);
    expect(await storage.read("late")).toBeUndefined();
    expect(await storage.read("top.bin")).toBeDefined();
  });
}

async function collect(storage: ReadableStorage, path: string, range: ByteRange, signal?: AbortSignal): Promise<Uint8Array> {
  const bytes = new Uint8Array(range.length);
  let length = 0;
  for await (const piece of streamRange(storage, path, range, { signal })) {
    bytes.set(piece, length);
    length += piece.byteLength;
  }
  expect(length).toBe(range.length);
  return bytes;
}

// expect's own comparison of megabytes is slow.
function equal(received: Uint8Array | undefined, expected: Uint8Array | undefined): boolean {
  return received !== undefined && expected !== undefined && Buffer.compare(received, expected) === 0;
}
