import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryStorage } from "../storage/memory.js";
import type { ReadableStorage } from "../storage/storage.js";
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
