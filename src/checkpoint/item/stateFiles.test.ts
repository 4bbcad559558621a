import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { differences, type ExpectedLeaf } from "../../../e2e/fixtures/expected.js";
import type { ByteRange } from "../../bytes/ranges.js";
import { CorruptCheckpointError, StorageError, UnsupportedCheckpointError } from "../../errors.js";
import { memoryStorage } from "../../storage/memory.js";
import { nodeStorage } from "../../storage/node.js";
import type { ReadableStorage } from "../../storage/storage.js";
import { fixtureFolder } from "../fixtureSteps.testing.js";
import { jsonBytes } from "../handmadeStep.testing.js";
import { openCheckpoint } from "../openCheckpoint.js";
import { openedItem, restoredItem } from "./openedItems.testing.js";

const folder = join(fixtureFolder, "state-files");
const bytesOf = (name: string) => new Uint8Array(readFileSync(join(folder, name)));
const expected: { readonly files: Readonly<Record<string, readonly ExpectedLeaf[]>> } = JSON.parse(
  readFileSync(join(folder, "expected.json"), "utf8"),
);

const utf8 = (text: string) => [...new TextEncoder().encode(text)];
/** A short text, a map and a list as msgpack. */
const text = (value: string) => [0xa0 | utf8(value).length, ...utf8(value)];
const map = (members: Readonly<Record<string, readonly number[]>>) => [
  0x80 | Object.keys(members).length,
  ...Object.entries(members).flatMap(([key, value]) => [...text(key), ...value]),
];
const list = (...elements: readonly (readonly number[])[]) => [0x90 | elements.length, ...elements.flat()];
const extension = (type: number, content: readonly number[]) => [0xc7, content.length, type, ...content];
/** An array of Flax. */
const array = (shape: readonly number[], dtype: string, bytes: readonly number[]) =>
  extension(1, list(list(...shape.map((length) => [length])), text(dtype), [0xc4, bytes.length, ...bytes]));
const uint8s = (...bytes: readonly number[]) => array([bytes.length], "uint8", bytes);

const inFile = (content: readonly number[]) => new Map([["checkpoint_1", Uint8Array.from(content)]]);
const restored = async (files: ReadonlyMap<string, Uint8Array>, path: string) => restoredItem(await openedItem(files, path));

describe("files of Flax", () => {
  test.each(Object.keys(expected.files))("%s comes back as it was saved", async (name) => {
    for (const path of [name, `runs/${name}`]) {
      const index = await openedItem(new Map([[path, bytesOf(name)]]), path);
      expect(index.layout).toMatchObject({ tree: "msgpack", arrays: ["msgpack"], zarr: [] });
      expect(await differences(await restoredItem(index), expected.files[name] ?? [])).toEqual([]);
    }
  });

  test("a bare array, number and text", async () => {
    expect(await restored(inFile(uint8s(1, 2)), "checkpoint_1")).toMatchObject({ dtype: "uint8", shape: [2] });
    expect(await restored(inFile([7]), "checkpoint_1")).toBe(7);
    expect(await restored(inFile(text("a")), "checkpoint_1")).toBe("a");
  });

  test("keys that are numbers, and tuples of Orbax", async () => {
    const tree = [0x81, 7, ...extension(4, list([1], extension(4, list()), [0xc0]))];
    expect(await restored(inFile(tree), "checkpoint_1")).toEqual({ 7: [1, [], null] });
  });
});

test("a root of T5X comes back, whose file describes its larger arrays as TensorStore does", async () => {
  const { items } = JSON.parse(readFileSync(join(fixtureFolder, "t5x", "expected.json"), "utf8"));
  const opened = await openCheckpoint(nodeStorage(join(fixtureFolder, "t5x", "run")));
  expect(opened).toMatchObject({ kind: "root", step: 1000, layout: { tree: "msgpack", arrays: ["directories", "msgpack"], zarr: [2] } });
  expect(await differences(await opened.restore(), items.checkpoint_1000)).toEqual([]);
  expect(opened.leaves.find(({ path }) => path.endsWith("mlp/wo"))).toMatchObject({ dtype: "bfloat16", chunks: 4, codec: "gzip" });
});

/** As Orbax 0.4.2 and before wrote it: the tree, with arrays in it or outside. */
const item = (tree: readonly number[], others: Readonly<Record<string, Uint8Array>> = {}) =>
  new Map(Object.entries({ "i/checkpoint": Uint8Array.from(tree), ...others }));

const entry = (keys: readonly string[], valueType: string, skip = true) => ({
  key_metadata: keys.map((key) => ({ key, key_type: 2 })),
  value_metadata: { value_type: valueType, skip_deserialize: skip },
});

const outside = {
  "i/x.y/.zarray": jsonBytes({
    chunks: [2],
    compressor: null,
    dtype: "|u1",
    fill_value: null,
    filters: null,
    order: "C",
    shape: [2],
    zarr_format: 2,
  }),
  "i/x.y/0": Uint8Array.of(8, 9),
};

describe("state files of Orbax", () => {
  test("arrays outside, under the name that the file gives", async () => {
    const tree = map({ x: map({ y: text("PLACEHOLDER://x.y"), z: text("AGGREGATED://x.y") }), n: [5], s: text("PLACEHOLDER") });
    const index = await openedItem(item(tree, outside), "i");
    expect(index.layout).toEqual({ tree: "msgpack", arrays: ["directories", "msgpack"], databases: undefined, zarr: [2] });
    const data = { dtype: "uint8", shape: [2], data: Uint8Array.of(8, 9) };
    expect(await restoredItem(index)).toMatchObject({ x: { y: data, z: data }, n: 5, s: "PLACEHOLDER" });
  });

  test("arrays outside that are lost are listed", async () => {
    const tree = map({ a: text("PLACEHOLDER://a"), x: map({ y: text("PLACEHOLDER://x.y") }), b: text("PLACEHOLDER://b") });
    await expect(openedItem(item(tree, outside), "i")).rejects.toMatchObject({ path: "i/a/.zarray", received: 'none for "a", "b"' });
  });

  test("texts that Orbax 0.3 put into the folder of one of them, for all", async () => {
    const tree = map({ a: text("PLACEHOLDER://a"), b: text("PLACEHOLDER://b"), x: map({ y: text("PLACEHOLDER://x.y") }) });
    const texts = { "i/b/_strings.json": jsonBytes({ a: "first", b: "" }) };
    const index = await openedItem(item(tree, { ...outside, ...texts }), "i");
    expect(await restoredItem(index)).toMatchObject({ a: "first", b: "", x: { y: { dtype: "uint8" } } });
    const lacking = { "i/b/_strings.json": jsonBytes({ a: "first", b: 7 }) };
    await expect(openedItem(item(tree, { ...outside, ...lacking }), "i")).rejects.toMatchObject({ received: 'none for "b"' });
  });

  test("beside _METADATA it holds the values that are not read otherwise", async () => {
    const metadata = jsonBytes({
      tree_metadata: {
        0: entry(["x", "y"], "np.ndarray", false),
        1: entry(["x", "a"], "np.ndarray"),
        2: entry(["t"], "string"),
        3: entry(["e"], "Dict"),
      },
    });
    const tree = map({ x: map({ y: text("PLACEHOLDER://x.y"), a: uint8s(3) }), t: text("text"), e: text("PLACEHOLDER://e") });
    const index = await openedItem(item(tree, { ...outside, "i/_METADATA": metadata }), "i");
    expect(index.layout).toMatchObject({ tree: "metadata", arrays: ["directories", "msgpack"] });
    expect(await restoredItem(index)).toMatchObject({
      x: { y: { data: Uint8Array.of(8, 9) }, a: { data: Uint8Array.of(3) } },
      t: "text",
      e: {},
    });
  });

  test("values that _METADATA names and the file lacks, or has of another kind, are listed", async () => {
    const tree_metadata = {
      0: entry(["a"], "np.ndarray"),
      1: entry(["b", "c"], "scalar"),
      2: entry(["t"], "string"),
      3: entry(["k"], "jax.Array"),
    };
    const metadata = { "i/_METADATA": jsonBytes({ tree_metadata }) };
    await expect(openedItem(item(map({ a: [0xc0], b: [7], t: [7], k: uint8s(1) }), metadata), "i")).rejects.toMatchObject({
      path: "i/checkpoint",
      expected: "the values of 4 leaves",
      received: 'none for "a", "b/c", "t"',
    });
    await expect(openedItem(new Map(Object.entries(metadata)), "i")).rejects.toMatchObject({
      path: "i/checkpoint",
      received: "no such file",
    });
  });
});

/** A place that tells what is read, and maybe how long files are. */
function watched(files: ReadonlyMap<string, Uint8Array>, measures: boolean) {
  const ranges: (ByteRange | undefined)[] = [];
  const { read, list, size } = memoryStorage(files);
  const storage: ReadableStorage = {
    list,
    async read(path, options = {}) {
      const bytes = await read(path, options);
      if (options.range === undefined && (bytes?.length ?? 0) > (options.longest ?? Number.POSITIVE_INFINITY))
        throw new StorageError({ path, reason: "length", message: "longer" });
      if (path.endsWith("checkpoint_1")) ranges.push(options.range);
      return bytes;
    },
    ...(measures && size && { size }),
  };
  return { storage, ranges };
}

/** A file of fifteen long arrays, of which each is full of its number. */
function longFile(): Uint8Array {
  const length = [0x00, 0x0a, 0xae, 0x60];
  const content = [...list(list([0xce, ...length]), text("uint8")).with(0, 0x93), 0xc6, ...length];
  const head = [0xc9, 0x00, 0x0a, 0xae, 0x60 + content.length, 1];
  const arrays = Array.from({ length: 15 }, (_, n) => [
    Uint8Array.from([...text(`a${n}`), ...head, ...content]),
    new Uint8Array(700_000).fill(n),
  ]);
  return Buffer.concat([Uint8Array.of(0x8f), ...arrays.flat()]);
}

describe("long files", () => {
  test("of a file of 10 MB with fifteen arrays only what stands between them is read", async () => {
    const file = longFile();
    const { storage, ranges } = watched(new Map([["checkpoint_1", file]]), true);
    const index = await openedItem(storage, "checkpoint_1");
    expect(ranges.length).toBeLessThanOrEqual(16);
    expect(ranges.reduce((sum, range) => sum + (range?.length ?? 0), 0)).toBeLessThan(80_000);
    expect(index.leaves).toHaveLength(15);
    const tree = (await restoredItem(index)) as Record<string, { readonly data: Uint8Array }>;
    const wrong = Object.values(tree).filter(({ data }, n) => data.length !== 700_000 || data.some((byte) => byte !== n));
    expect(wrong).toEqual([]);
  });

  test("a place that does not tell lengths has it read whole", async () => {
    const { storage, ranges } = watched(new Map([["checkpoint_1", longFile()]]), false);
    expect((await openedItem(storage, "checkpoint_1")).leaves).toHaveLength(15);
    expect(ranges).toEqual([undefined]);
  });

  test("where it does not, and the file is too long for memory, it says so", async () => {
    const storage: ReadableStorage = {
      list: async () => ({ files: [], directories: [] }),
      read: async (path) => {
        if (path !== "checkpoint_1") return undefined;
        throw new StorageError({ path, reason: "length", message: "longer" });
      },
    };
    await expect(openedItem(storage, "checkpoint_1")).rejects.toThrow(/checkpoint_1 has more than 536870912 bytes.*size\(path\)/);
  });
});

describe("what is no state file", () => {
  const chunked = (members: Readonly<Record<string, readonly number[]>>) => map({ __msgpack_chunked_array__: [0xc3], ...members });
  test.each<[string, readonly number[], string]>([
    ["an empty file", [], "1 bytes"],
    ["a value that begins nothing", [0xc1], "a msgpack value"],
    ["more behind the end", [1, 2], "the end of the file"],
    ["a length beyond the file", [0xdb, 0xff, 0xff, 0xff, 0xff], "a text of at most"],
    ["a text that ends too soon", [0xa5, 0x61], "5 bytes"],
    ["a text that is no UTF-8", [0xa1, 0xff], "UTF-8"],
    ["a map of more than the file holds", [0xdf, 0xff, 0xff, 0xff, 0xff], "bytes for 4294967295 values"],
    ["a list of more than the file holds", [0xdd, 0xff, 0xff, 0xff, 0xff], "bytes for 4294967295 values"],
    ["a key twice", [0x82, ...text("a"), 1, ...text("a"), 2], "each key of a map once"],
    ["a key that is a list", [0x81, 0x90, 1], "a key that is a text"],
    ["lists within lists without end", [...new Array(600).fill(0x91), 0xc0], "at most 512 nodes within each other"],
    ["an array longer than the file", [0xc9, 0xff, 0xff, 0xff, 0xff, 1], "4294967295 bytes"],
    ["an array with fewer bytes than its shape", array([3], "uint8", [1, 2]), "3 bytes of uint8[3]"],
    ["an array whose bytes are a number", extension(1, list(list(), text("uint8"), [1])), "1 bytes of uint8[]"],
    ["an array with a negative length", extension(1, list(list([0xff]), text("uint8"), [0xc4, 0])), "a length"],
    ["an array with a length that is a text", extension(1, list(list(text("a")), text("uint8"), [0xc4, 0])), "a length"],
    ["an array without a list", extension(1, [1]), "a list of 3"],
    ["an array of two members", extension(1, list(list(), text("uint8"))), "a list of 3"],
    ["an array whose dtype is a number", extension(1, list(list(), [1], [0xc4, 0])), "the name of a dtype"],
    [
      "an array of too many axes",
      extension(1, list([0xdc, 0, 33, ...new Array(33).fill(1)], text("uint8"), [0xc4, 1, 0])),
      "at most 32 axes",
    ],
    ["an array with more behind it", extension(1, [...list(list(), text("uint8"), [0xc4, 1, 0]), 0]), "a value that ends at byte 15"],
    ["a complex number of texts", extension(2, list(text("a"), text("b"))), "a number"],
    ["a chunked array without chunks", chunked({ shape: map({ 0: [3] }) }), "the shape and the chunks"],
    ["a chunked array without a shape", chunked({ chunks: map({ 0: uint8s(1) }), shape: map({ 0: [2] }) }), "the shape and the chunks"],
    [
      "a chunked array of two dtypes",
      chunked({ shape: map({ 0: [2] }), chunks: map({ 0: uint8s(1), 1: array([1], "int8", [1]) }) }),
      "the shape and the chunks",
    ],
    [
      "a chunked array with a chunk that is none",
      chunked({ shape: map({ 0: [2] }), chunks: map({ 0: uint8s(1, 2), 1: [7] }) }),
      "the shape and the chunks",
    ],
    [
      "a chunked array of a negative shape",
      chunked({ shape: map({ 0: [0xff], 1: [0xff] }), chunks: map({ 0: uint8s(1) }) }),
      "the shape and the chunks",
    ],
    [
      "a chunked array whose shape is a text",
      chunked({ shape: map({ 0: text("1") }), chunks: map({ 0: uint8s(1) }) }),
      "the shape and the chunks",
    ],
  ])("%s", async (_, bytes, message) => {
    const error = await openedItem(inFile(bytes), "checkpoint_1").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CorruptCheckpointError);
    expect(error).toMatchObject({ path: "checkpoint_1", expected: expect.stringContaining(message) });
  });

  test.each<[string, readonly number[], string]>([
    ["bytes of Python", map({ a: list([0xc4, 1, 0]) }), 'leaf "a/0" is bytes of Python'],
    ["an extension that Flax does not have", extension(-1, [0, 0, 0, 0]), "the root is a value of msgpack's extension type -1"],
    ["a dtype that JAX does not have", map({ s: array([1], "str32", [0]) }), 'leaf "s" is an array of dtype "str32"'],
  ])("%s is named, and not supported", async (_, bytes, message) => {
    const error = await openedItem(inFile(bytes), "checkpoint_1").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnsupportedCheckpointError);
    expect(error).toMatchObject({ message: expect.stringContaining(message) });
  });

  test("any change of a byte gives a tree or one of our errors, in memory of its size", async () => {
    const whole = bytesOf("checkpoint_2");
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(255), fc.nat(whole.length), async (at, byte, length) => {
        const damaged = whole.slice(0, length);
        if (at < length) damaged[at] = byte;
        const index = await openedItem(inFile([...damaged]), "checkpoint_1").catch((error: unknown) => error);
        if (index instanceof Error) expect(index.name).toMatch(/^(?:Corrupt|Unsupported)CheckpointError$/);
      }),
      { numRuns: 300 },
    );
  });
});
