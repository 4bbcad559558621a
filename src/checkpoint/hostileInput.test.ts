import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { ByteWriter } from "../bytes/writer.js";
import { type CheckpointErrorKind, isCheckpointError } from "../errors.js";
import { FakeDevice } from "../gpu/fakeDevice.testing.js";
import { sealEnvelope } from "../ocdbt/format/envelope.js";
import type { LeafValue } from "../ocdbt/format/leafValues.js";
import { child, indirect, inline, interiorOf, leafOf, manifestOf, ownFiles } from "../ocdbt/handmade.testing.js";
import { memoryStorage } from "../storage/memory.js";
import { cpuTimeOf } from "../tasks/cpuTime.testing.js";
import { watchAllocations } from "./allocations.testing.js";
import type { Files } from "./fixtureSteps.testing.js";
import { entriesOf, handmadeStep, inlineBytes, jsonBytes, recordOf, treeEntry, treeMetadata, type Zarray } from "./handmadeStep.testing.js";
import { type RestoredLeaf, restoredLeaves } from "./restoredLeaves.testing.js";
import { OrbaxCheckpointStore } from "./store.js";

// Checkpoints that are well-formed as far as checksums go, and made to harm.

const MiB = 2 ** 20;
/** Most processor time of a restore that is refused, in milliseconds. */
const quick = 5000;

interface Outcome {
  readonly leaves: readonly RestoredLeaf[];
  readonly error: unknown;
  /** Bytes of the largest buffer that was asked for, and by how much the process grew. */
  readonly largest: number;
  readonly growth: number;
  readonly cpuMs: number;
}

/** Restores step 1 with a budget of 1 MiB; no buffer stays. */
async function outcomeOf(files: Files, place: "memory" | "device"): Promise<Outcome> {
  const device = new FakeDevice();
  const store = new OrbaxCheckpointStore(memoryStorage(files), { readConcurrentBytes: MiB });
  const restore = async () => {
    const checkpoint = await store.restore(1, place === "device" ? { device: device.gpu } : {});
    const leaves = restoredLeaves(checkpoint.items).map((leaf) => ({ ...leaf, bytes: leaf.bytes.slice() }));
    checkpoint.destroy();
    return leaves;
  };
  const watched = () =>
    watchAllocations(() =>
      restore().then(
        (leaves) => ({ leaves, error: undefined }),
        (error: unknown) => ({ leaves: [], error }),
      ),
    );
  const {
    value: { value, largest, growth },
    cpuMs,
  } = await cpuTimeOf(watched);
  expect(device.alive).toEqual([]);
  return { ...value, largest, growth, cpuMs };
}

/** `blocks` RLE blocks of 128 KiB of zeros, four bytes each, in a zstd frame with a header in hexadecimal (RFC 8878). */
function zeros(blocks: number, header = "28b52ffd0058"): Uint8Array {
  const frame = new Uint8Array(Buffer.from(header + "02001000".repeat(blocks), "hex"));
  const last = frame.length - 4;
  frame[last] = 3;
  return frame;
}

const zstd = { compressor: { id: "zstd", level: 1 } };
const gzip = { compressor: { id: "gzip", level: 1 } };

/** A step whose only array has these metadata, and one chunk with these bytes. */
const oneArray = (zarray: Zarray | string, chunk: Uint8Array = new Uint8Array(16)): Files =>
  handmadeStep({
    w: {
      zarray,
      chunks: {
        [typeof zarray !== "string" && Array.isArray(zarray.shape) ? zarray.shape.map(() => 0).join(".") : "0"]: inlineBytes(chunk),
      },
    },
  });

/** A step whose only chunk is this value, in one of these files. */
const oneChunk = (value: LeafValue, ...names: readonly string[]): Files =>
  handmadeStep({ w: { chunks: { 0: value } } }, { table: ownFiles(...names), files: { "1/model/d/short": new Uint8Array(8) } });

/** A step whose database has this root, of a height. */
const rootOf = (root: Uint8Array, height = 0, files: Readonly<Record<string, Uint8Array>> = {}): Files =>
  handmadeStep({ w: {} }, { files: { ...files, "1/model/root": root, "1/model/manifest.ocdbt": manifestOf(root, { height }) } });

const treeOf = (...entries: readonly object[]): Files => handmadeStep({ w: {} }, { files: { "1/model/_METADATA": treeMetadata(entries) } });

const metadataOf = (text: string): Files => handmadeStep({ w: {} }, { files: { "1/model/_METADATA": jsonBytes(text) } });

const recordWith = (members: object): Files => handmadeStep({ w: {} }, { files: { "1/metadata/metadata": recordOf(members) } });

const dtypesOf = (value: unknown): Files => handmadeStep({ w: {} }, { files: { "1/dtypes/metadata": jsonBytes(value) } });

/** Arrays of so many chunks each, none of which is stored. */
const chunksLeftOut = (names: readonly string[], chunks: number): Files =>
  handmadeStep(Object.fromEntries(names.map((name) => [name, { zarray: { shape: [chunks], chunks: [1], fill_value: 0 }, chunks: {} }])), {
    files: {
      "1/model/_METADATA": treeMetadata(
        names.map((name) => treeEntry(["tree", name])),
        { store_array_data_equal_to_fill_value: false },
      ),
    },
  });

const many = <Value>(length: number, value: (index: number) => Value): Value[] => Array.from({ length }, (_, index) => value(index));

/** A node whose child is the node itself. */
function selfReferring(): Uint8Array {
  let root = new Uint8Array();
  for (let round = 0; round < 4; round++) root = new Uint8Array(interiorOf([child("", root)], ownFiles("root")));
  return root;
}

/** A node of height 2 whose grandchild is itself. */
function ancestorReferring(): Files {
  let root = new Uint8Array();
  let middle = new Uint8Array();
  for (let round = 0; round < 6; round++) {
    middle = new Uint8Array(interiorOf([child("", root)], ownFiles("root"), 1));
    root = new Uint8Array(interiorOf([child("", middle)], ownFiles("middle"), 2));
  }
  return rootOf(root, 2, { "1/model/middle": middle });
}

/** A leaf that claims a million entries in a few bytes. */
const claiming = () =>
  sealEnvelope("B+tree node", { compression: "none", body: Uint8Array.of(0, 0, 0xc0, 0x84, 0x3d, ...new Uint8Array(20)) });

/** A leaf of 3,000 keys of 60,006 bytes, of which all but six are the same: 50 KB that ask for 180 MB. */
function sharingKeys(): Uint8Array {
  const [count, shared] = [3000, 60_000];
  const writer = new ByteWriter();
  for (const value of [0, 0]) writer.u8(value); // height, and no data file
  writer.varint(count, 32);
  for (let key = 1; key < count; key++) writer.varint(shared, 16);
  for (let key = 0; key < count; key++) writer.varint(key === 0 ? shared + 6 : 6, 16);
  writer.bytes(new Uint8Array(shared).fill(0x6b));
  for (let key = 0; key < count; key++) writer.bytes(new TextEncoder().encode(String(key).padStart(6, "0")));
  writer.bytes(new Uint8Array(2 * count)); // values of length 0, all inline
  return sealEnvelope("B+tree node", { compression: "none", body: writer.toBytes() });
}

const sharded = (shape: number): string =>
  JSON.stringify({
    zarr_format: 3,
    node_type: "array",
    shape: [shape],
    data_type: "uint8",
    chunk_grid: { name: "regular", configuration: { chunk_shape: [shape] } },
    chunk_key_encoding: { name: "default" },
    fill_value: 0,
    codecs: [
      {
        name: "sharding_indexed",
        configuration: { chunk_shape: [1], codecs: [{ name: "bytes" }], index_codecs: [{ name: "bytes" }, { name: "crc32c" }] },
      },
    ],
  });

interface Hostile {
  readonly what: string;
  readonly make: () => Files;
  /** Of the error in memory; and on a device, where limits come first. */
  readonly kind: CheckpointErrorKind;
  readonly onDevice?: CheckpointErrorKind;
  /** Largest buffer asked for in memory, and growth of the process, in bytes; 2 MiB and 64 MiB unless given. */
  readonly largest?: number;
  readonly growth?: number;
}

const hostile: readonly Hostile[] = [
  { what: "a shape of 1e15 in one chunk", make: () => oneArray({ shape: [1e15], chunks: [1e15] }), kind: "Device", largest: 4e15 },
  { what: "a shape of 1e15 in chunks of 1", make: () => oneArray({ shape: [1e15], chunks: [1] }), kind: "Unsupported", onDevice: "Device" },
  { what: "2^20 chunks in four arrays", make: () => chunksLeftOut(["a", "b", "c", "d"], 2 ** 18), kind: "Unsupported" },
  { what: "a chunk of 1e15 elements for 4", make: () => oneArray({ ...zstd, chunks: [1e15] }, zeros(1)), kind: "Unsupported" },
  { what: "a chunk of 16 GiB that is there", make: () => oneArray({ ...zstd, chunks: [2 ** 32] }, zeros(131_072)), kind: "Unsupported" },
  {
    what: "a chunk of 2 GiB that cannot be streamed",
    make: () => oneArray({ ...zstd, shape: [2, 2], order: "F", chunks: [2 ** 14, 2 ** 15] }, zeros(1, "28b52ffd805800000080")),
    kind: "Unsupported",
  },
  { what: "sizes beyond 2^53", make: () => oneArray({ shape: [2 ** 40, 2 ** 40], chunks: [1, 1] }), kind: "Corrupt" },
  { what: "33 axes", make: () => oneArray({ shape: many(33, () => 1), chunks: many(33, () => 1) }), kind: "Corrupt" },
  { what: "negative lengths", make: () => oneArray({ shape: [-4] }), kind: "Corrupt" },
  { what: "broken lengths", make: () => oneArray({ shape: [4.5] }), kind: "Corrupt" },
  { what: "a long dtype", make: () => oneArray({ dtype: "<f4".repeat(100_000) }), kind: "Unsupported" },
  { what: "a compressor named __proto__", make: () => oneArray({ compressor: { id: "__proto__" } }), kind: "Unsupported" },
  { what: "many filters", make: () => oneArray({ filters: many(10_000, () => ({ id: "x" })) }), kind: "Unsupported" },
  {
    what: "a fill value of 4,000 digits",
    make: () =>
      oneArray(
        `{"chunks": [4], "compressor": null, "dtype": "<i4", "fill_value": ${"9".repeat(4000)}, "filters": null, "order": "C", "shape": [4], "zarr_format": 2}`,
      ),
    kind: "Corrupt",
  },
  { what: "a zstd frame of 2^60 bytes", make: () => oneArray(zstd, zeros(1, "28b52ffdc0580000000000000010")), kind: "Corrupt" },
  { what: "a zstd bomb of 1 GiB", make: () => oneArray(zstd, zeros(8192)), kind: "Corrupt" },
  { what: "a gzip bomb of 64 MiB", make: () => oneArray(gzip, gzipSync(new Uint8Array(2 ** 26))), kind: "Corrupt" },
  {
    what: "blosc that says 2 GiB",
    make: () => oneArray({ compressor: { id: "blosc" } }, Uint8Array.of(2, 1, 1, 4, 255, 255, 255, 127, 0, 0, 16, 0, 16, 0, 0, 0)),
    kind: "Corrupt",
  },
  {
    what: "a shard of 2^20 chunks without an index",
    make: () => rootOf(leafOf({ "tree.w/c/0": inline("x".repeat(24)), "tree.w/zarr.json": inline(sharded(2 ** 20)) })),
    kind: "Corrupt",
  },
  { what: "a chunk behind the end of its file", make: () => oneChunk(indirect(2n ** 40n, 16n), "d/short"), kind: "Storage" },
  { what: "a chunk that ends behind its file", make: () => oneChunk(indirect(0n, 16n), "d/short"), kind: "Storage" },
  { what: "a chunk of 2^52 stored bytes", make: () => oneChunk(indirect(0n, 2n ** 52n), "d/short"), kind: "Corrupt" },
  { what: "a chunk that ends above 2^63", make: () => oneChunk(indirect(2n ** 63n - 8n, 16n), "d/short"), kind: "Corrupt" },
  { what: "a chunk that ends above 2^53", make: () => oneChunk(indirect(2n ** 53n, 16n), "d/short"), kind: "Corrupt" },
  { what: "a chunk of no bytes", make: () => oneChunk(indirect(0n, 0n), "d/short"), kind: "Corrupt" },
  { what: "a chunk in a file that is not there", make: () => oneChunk(indirect(0n, 16n), "d/none"), kind: "Corrupt" },
  ...["../secret", "d/../../secret", "/etc/passwd", "C:\\secret", "d\\..\\secret", "http://elsewhere/x", "d/\0", "d//x", "./x"].map(
    (name): Hostile => ({ what: `a data file ${JSON.stringify(name)}`, make: () => oneChunk(indirect(0n, 16n), name), kind: "Corrupt" }),
  ),
  {
    what: "a base path that leaves the folder",
    make: () => handmadeStep({ w: { chunks: { 0: indirect(0n, 16n) } } }, { table: [{ basePath: "a/", relativePath: "../../x" }] }),
    kind: "Corrupt",
  },
  { what: "a node that is its own child", make: () => rootOf(selfReferring(), 1), kind: "Corrupt" },
  { what: "a node that is its own grandchild", make: ancestorReferring, kind: "Corrupt" },
  { what: "a root of another height", make: () => rootOf(leafOf(entriesOf({ w: {} })), 200), kind: "Corrupt" },
  { what: "a node that claims a million entries", make: () => rootOf(claiming()), kind: "Corrupt" },
  { what: "keys of 180 MB that share all but six bytes", make: () => rootOf(sharingKeys()), kind: "Corrupt" },
  {
    what: "a node that decompresses to 1 GiB",
    make: () => rootOf(sealEnvelope("B+tree node", { compression: "zstd", body: zeros(8192) })),
    kind: "Corrupt",
  },
  {
    what: "a node that decompresses to the most allowed",
    make: () => rootOf(sealEnvelope("B+tree node", { compression: "zstd", body: zeros(1024) })),
    kind: "Corrupt",
    largest: 128 * MiB,
    growth: 400 * MiB,
  },
  { what: "100 MB of nested lists for a tree", make: () => metadataOf("[".repeat(1e8)), kind: "Corrupt" },
  { what: "60 MB of nested lists for a tree", make: () => metadataOf("[".repeat(6e7)), kind: "Corrupt", growth: 200 * MiB },
  { what: "millions of lists for a tree", make: () => metadataOf(`[${"[],".repeat(2e7)}[]]`), kind: "Corrupt", growth: 500 * MiB },
  {
    what: "a tree of 100,000 levels",
    make: () => treeOf(treeEntry(["tree", ...many(100_000, () => "a")], "None")),
    kind: "Corrupt",
    growth: 100 * MiB,
  },
  { what: "a key of 10 MB", make: () => treeOf(treeEntry(["tree", "k".repeat(1e7)])), kind: "Corrupt", growth: 200 * MiB },
  {
    what: "30,000 leaves that are not there",
    make: () => treeOf(...many(30_000, (index) => treeEntry(["tree", String(index)]))),
    kind: "Corrupt",
    growth: 300 * MiB,
  },
  ...[4294967294, 4294967296, -1, "01", "length", "1e3", ""].map(
    (index): Hostile => ({
      what: `the list index ${JSON.stringify(index)}`,
      make: () =>
        treeOf({
          ...treeEntry(["tree"], "None"),
          key_metadata: [
            { key: "tree", key_type: 2 },
            { key: String(index), key_type: 1 },
          ],
        }),
      kind: "Corrupt",
    }),
  ),
  { what: "a million items", make: () => recordWith({ items: many(1e6, (index) => `i${index}`) }), kind: "Corrupt", growth: 300 * MiB },
  {
    what: "a million items that are numbers",
    make: () => recordWith({ items: many(1e6, (index) => index) }),
    kind: "Validation",
    growth: 300 * MiB,
  },
  {
    what: "100,000 metrics that are texts",
    make: () => recordWith({ metrics: Object.fromEntries(many(1e5, (index) => [`m${index}`, "x"])) }),
    kind: "Validation",
    growth: 400 * MiB,
  },
  ...["..", ".", "", "a/b", "a\\b", "a\0", "\ud800"].map(
    (name): Hostile => ({
      what: `the item ${JSON.stringify(name)}`,
      make: () => recordWith({ items: ["model", "missing", name] }),
      kind: "Corrupt",
    }),
  ),
  {
    what: "100,000 dtypes that are numbers",
    make: () => dtypesOf({ model: Object.fromEntries(many(1e5, (index) => [`d${index}`, 1])) }),
    kind: "Validation",
    growth: 400 * MiB,
  },
  { what: "a dtype of 10 MB", make: () => dtypesOf({ model: { w: "x".repeat(1e7) } }), kind: "DtypeMismatch", growth: 200 * MiB },
  {
    what: "a dtype named constructor",
    make: () => dtypesOf('{"__proto__": {"w": "float32"}, "model": {"w": "constructor"}}'),
    kind: "DtypeMismatch",
  },
];

describe("what a hostile checkpoint may do with", () => {
  it.each(hostile)("$what is an error, soon and in little memory", async ({ make, kind, onDevice, largest, growth }) => {
    const files = make();
    for (const place of ["memory", "device"] as const) {
      const outcome = await outcomeOf(files, place);
      const expected = place === "device" ? (onDevice ?? kind) : kind;
      expect(isCheckpointError(outcome.error, expected), `${place}: ${String(outcome.error).slice(0, 500)}`).toBe(true);
      expect(String(outcome.error).length).toBeLessThan(12_000);
      expect(outcome.largest).toBeLessThanOrEqual(largest ?? 2 * MiB);
      expect(outcome.growth).toBeLessThan(growth ?? 64 * MiB);
      expect(outcome.cpuMs).toBeLessThan(quick);
    }
  });
});

describe("a strange checkpoint is restored", () => {
  const valuesOf = async (files: Files) => {
    const { leaves, error } = await outcomeOf(files, "memory");
    expect(error).toBeUndefined();
    return leaves.map(({ path, spec, bytes, value }) => ({ path, spec, bytes: [...bytes], value }));
  };
  const fourZeros = { path: "/model/w", spec: "float32[4]", bytes: [...new Uint8Array(16)], value: "" };

  it("whose index is 255 levels deep", async () => {
    const files: Record<string, Uint8Array> = {};
    let node = leafOf(entriesOf({ w: {} }));
    for (let height = 1; height <= 255; height++) {
      files[`1/model/level${height}`] = node;
      node = interiorOf([child("", node)], ownFiles(`level${height}`), height);
    }
    expect(await valuesOf(rootOf(node, 255, files))).toEqual([fourZeros]);
  });

  it("whose chunks overlap", async () => {
    const bytes = Uint8Array.from({ length: 32 }, (_, index) => index);
    const chunks = { 0: indirect(0n, 4n), 1: indirect(2n, 4n), 2: indirect(0n, 4n), 3: indirect(1n, 4n) };
    const zarray = { shape: [16], chunks: [4], dtype: "|u1" };
    const files = handmadeStep({ w: { zarray, chunks } }, { table: ownFiles("d/x"), files: { "1/model/d/x": bytes } });
    expect((await valuesOf(files))[0]?.bytes).toEqual([0, 1, 2, 3, 2, 3, 4, 5, 0, 1, 2, 3, 1, 2, 3, 4]);
  });

  it("with 50,000 chunks that were left out", async () => {
    for (const place of ["memory", "device"] as const) {
      const { leaves, error, growth } = await outcomeOf(chunksLeftOut(["w"], 50_000), place);
      expect(error).toBeUndefined();
      expect(leaves[0]?.bytes.length).toBe(200_000);
      expect(growth).toBeLessThan(200 * MiB);
    }
  });

  it("with shapes that hold nothing, however long", async () => {
    const huge = 2 ** 53 - 1;
    for (const shape of [
      [0, huge, huge],
      [huge, huge, 0],
    ]) {
      const files = handmadeStep({ w: { zarray: { shape, chunks: [1, 1, 1] }, chunks: {} } });
      expect(await valuesOf(files)).toMatchObject([{ spec: `float32[${shape}]`, bytes: [] }]);
    }
  });

  it("with keys that objects have of themselves", async () => {
    const keys = ["__proto__", "constructor", "toString", "", "length", "0"];
    const entries = keys.map((key) => treeEntry(["tree", key, "polluted"], "None"));
    const { items } = await new OrbaxCheckpointStore(memoryStorage(treeOf(...entries))).restore(1);
    expect(Object.keys(items.model as object).sort()).toEqual([...keys].sort());
    expect(Object.getPrototypeOf(items.model)).toBe(Object.prototype);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("with an item of such a name", async () => {
    const files = recordWith({ items: ["__proto__"] }).set("1/__proto__/_METADATA", treeMetadata([treeEntry(["tree"], "None")]));
    const { items } = await new OrbaxCheckpointStore(memoryStorage(files)).restore(1);
    expect(Object.entries(items)).toEqual([["__proto__", null]]);
  });
});
