import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { type Dtype, dtypes, isSavable } from "../../src/arrays/dtypes.js";
import { elementCount } from "../../src/arrays/spec.js";
import { openOcdbt } from "../../src/ocdbt/open.js";
import { walkNodes } from "../../src/ocdbt/walkNodes.testing.js";
import { type OcdbtEntry, writeOcdbt } from "../../src/ocdbt/write.js";
import { memoryStorage } from "../../src/storage/memory.js";
import { nodeStorage } from "../../src/storage/node.js";
import { readElements } from "../../src/zarr/elements.js";
import { encodeArray } from "../../src/zarr/encodeArray.js";
import { writeElements } from "../../src/zarr/writeElements.js";

/** What is in a database, and how it was written. */
interface DatabaseContent {
  readonly limits: {
    readonly dataFileBytes: number;
    readonly maxInlineValueBytes: number;
    readonly maxDecodedNodeBytes: number;
    readonly compression: "none" | "zstd";
  };
  readonly entries: readonly { readonly key: string; readonly value: Uint8Array }[];
}

/** A database that was written. */
interface MadeDatabase {
  readonly name: string;
  readonly height: number;
}

/** The trees' least heights: so many databases of each. */
const heights = [0, 1, 2, 3];
const databasesEach = 4;

const keys = fc.uniqueArray(
  fc.oneof(
    fc.string({ unit: "binary", maxLength: 8 }),
    fc
      .tuple(fc.constantFrom("tree.", "tree.layers.", "tree.日本/"), fc.nat(200), fc.constantFrom("/.zarray", "/0", "/1.0"))
      .map((parts) => parts.join("")),
    fc.tuple(fc.constantFrom("a", "é"), fc.nat(500)).map(([letter, index]) => letter.repeat(1024) + index),
  ),
  { minLength: 40, maxLength: 120 },
);

const lengths = fc.infiniteStream(fc.oneof(fc.nat(40), fc.nat(40), fc.nat(3000)));

const contents: fc.Arbitrary<DatabaseContent> = fc
  .record({
    names: keys,
    lengths,
    dataFileBytes: fc.integer({ min: 500, max: 20_000 }),
    maxInlineValueBytes: fc.constantFrom(0, 16, 100, 1024),
    compression: fc.constantFrom("none" as const, "zstd" as const),
  })
  .map(({ names, lengths: valueLengths, ...limits }) => ({
    limits: { ...limits, maxDecodedNodeBytes: 100_000_000 },
    entries: names.map((key, index) => ({ key, value: new Uint8Array(valueLengths.next().value ?? 0).fill(index) })),
  }));

/** The same content with the first of ever smaller limits that makes the tree at least so high. */
async function atHeight(height: number, { limits, entries }: DatabaseContent): Promise<DatabaseContent> {
  for (let limit = limits.maxDecodedNodeBytes; limit > 100; limit = Math.floor(Math.min(limit, 200_000) * 0.9)) {
    const smaller = { ...limits, maxDecodedNodeBytes: limit };
    if ((await writeOcdbt(memoryStorage(), entries, smaller)).height >= height) return { limits: smaller, entries };
  }
  throw new Error(`${entries.length} entries make no tree of height ${height}`);
}

/**
 * Writes databases of a seed's random keys and values into folders of `folder`, one more with an array of every dtype, and beside
 * them `expected.json`, which says what is in them.
 */
export async function writeRandomDatabases(folder: string, seed: number): Promise<MadeDatabase[]> {
  const databases: MadeDatabase[] = [];
  const expected: object[] = [];
  for (const [index, content] of fc.sample(contents, { seed, numRuns: heights.length * databasesEach }).entries()) {
    const { limits, entries } = await atHeight(heights[index % heights.length] ?? 0, content);
    const name = `random-${index}`;
    const { height } = await writeOcdbt(nodeStorage(join(folder, name)), entries, limits);
    databases.push({ name, height });
    expected.push({ name, limits, entries: entries.map(({ key, value }) => ({ key, ...described(value) })) });
  }
  const arrays = await writeArrays(folder, seed);
  await writeFile(join(folder, "expected.json"), JSON.stringify({ databases: expected, arrays }));
  return databases;
}

/** An array of every dtype that TensorStore has, most of them in several chunks. */
async function writeArrays(folder: string, seed: number): Promise<object[]> {
  const names = (Object.keys(dtypes) as Dtype[]).filter(isSavable);
  const shapes = fc.sample(fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 3 }), { seed, numRuns: names.length });
  const entries: OcdbtEntry[] = [];
  const expected: object[] = [];
  for (const [index, dtype] of names.entries()) {
    const spec = { shape: shapes[index] ?? [], dtype };
    const [codes = new Uint8Array()] = fc.sample(bytesOf(elementCount(spec.shape) * dtypes[dtype].itemsize), { seed, numRuns: 1 });
    const stored = writeElements(codes, dtype);
    const name = `tree.${dtype}`;
    const { metadata, chunks } = encodeArray(name, spec, { longestChunk: 200 });
    entries.push({ key: metadata.key, value: new TextEncoder().encode(metadata.text) });
    for (const { key, range, paddingBytes } of chunks()) {
      const pieces = [stored.subarray(range.offset, range.offset + range.length), new Uint8Array(paddingBytes)];
      entries.push({ key, value: { byteLength: range.length + paddingBytes, pieces } });
    }
    expected.push({ name, ...spec, ...described(readElements(stored, dtype, "little", { path: name, offset: 0 })) });
  }
  await writeOcdbt(nodeStorage(join(folder, "arrays")), entries);
  return expected;
}

const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

/** Bytes by their length and hash. */
const described = (bytes: Uint8Array) => ({ byteLength: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") });

/** The nodes of a database in a folder, a line each: height, hash of the first key, number of entries. */
export async function nodesIn(folder: string): Promise<string[]> {
  const nodes = await walkNodes(nodeStorage(folder));
  return nodes.map(({ node, prefix }) => {
    const [first, count] =
      node.kind === "leaf" ? [node.entries.keys.at(0), node.entries.length] : [node.children[0]?.key, node.children.length];
    return `height ${node.height}: ${described(Buffer.concat([prefix, first ?? new Uint8Array()])).sha256.slice(0, 8)} and on, ${count}`;
  });
}

/** The keys and texts of a database in a folder. */
export async function textsIn(folder: string): Promise<Map<string, string>> {
  const database = await openOcdbt(nodeStorage(folder));
  const texts = new Map<string, string>();
  for await (const key of database?.keys("") ?? []) texts.set(key, Buffer.from((await database?.read(key)) ?? []).toString("hex"));
  return texts;
}
