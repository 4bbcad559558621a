import { deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { HostArray } from "../arrays/hostArray.js";
import type { PrngKey } from "../arrays/prngKey.js";
import {
  CheckpointDtypeMismatchError,
  CheckpointTreeMismatchError,
  CorruptCheckpointError,
  StorageError,
  UnsupportedCheckpointError,
} from "../errors.js";
import { FakeBuffer } from "../gpu/fakeBuffer.testing.js";
import { FakeDevice } from "../gpu/fakeDevice.testing.js";
import type { GpuArray } from "../gpu/gpuArray.js";
import { indirect, inline, leafOf, manifestOf, ownFiles } from "../ocdbt/handmade.testing.js";
import { memoryStorage } from "../storage/memory.js";
import type { ReadableStorage } from "../storage/storage.js";
import { type Files, filesOfStep } from "./fixtureSteps.testing.js";
import {
  entriesOf,
  type HandmadeArray,
  handmadeStep,
  inlineBytes,
  jsonBytes,
  recordOf,
  treeEntry,
  treeMetadata,
  type Zarray,
} from "./handmadeStep.testing.js";
import type { RestoreOptions } from "./restore/restoreOptions.js";
import { OrbaxCheckpointStore } from "./store.js";
import type { Templates } from "./template/restoredTypes.js";
import { shapeDtypeStruct } from "./template/template.js";

// Named after the rows of the list of faults that people reported in public: what is wrong, not the report. Rows 28, 32 and 35 to 44 are
// those of servers.

const storeOf = (files: Files | ReadableStorage) => new OrbaxCheckpointStore(files instanceof Map ? memoryStorage(files) : files);

async function model<Tree>(files: Files, options: RestoreOptions & { readonly templates?: Templates } = {}): Promise<Tree> {
  return (await storeOf(files).restore(1, options)).items.model as Tree;
}

const bytesOf = (view: ArrayBufferView) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

/** A step with the array `w` of one chunk, or with no axes. */
const arrayOf = (zarray: Zarray, data: ArrayBufferView): Files =>
  handmadeStep({ w: { zarray, chunks: { 0: inlineBytes(bytesOf(data)) } } });

type W<Data> = { readonly w: Omit<HostArray, "data"> & { readonly data: Data } };

const failureOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "no error",
    (error: unknown) => error,
  );

/** The same step with another `_METADATA`. */
const withTree = (files: Files, entries: readonly object[], members: object = {}): Files =>
  files.set("1/model/_METADATA", treeMetadata(entries, members));

describe("wrong numbers without an error", () => {
  it("1: an int32 beyond float32's precision does not turn into a float unasked", async () => {
    const files = arrayOf({ shape: [], chunks: [], dtype: "<i4" }, Int32Array.of(16_777_217));
    const templates = { model: { w: shapeDtypeStruct([], "float32") } };
    expect(await failureOf(model(files, { templates }))).toBeInstanceOf(CheckpointDtypeMismatchError);
    expect((await model<W<Float32Array>>(files, { templates, castDtypes: true })).w.data).toEqual(Float32Array.of(16_777_216));
  });

  it("2: a list stays a list, and a dict with keys 0 and 1 a dict", async () => {
    const entries = [0, 1].flatMap((index) => [
      treeEntry(["tree", "list", index], "None"),
      treeEntry(["tree", "dict", String(index)], "None"),
    ]);
    expect(await model(withTree(handmadeStep({}), entries))).toEqual({ list: [null, null], dict: { 0: null, 1: null } });
  });

  it("3: a lost chunk is no fill value, and one left out is", async () => {
    const zarray = { shape: [8], chunks: [4], fill_value: 1.5 };
    const files = handmadeStep({ w: { zarray } });
    const error = await failureOf(model(files));
    expect(error).toBeInstanceOf(CorruptCheckpointError);
    expect(error).toMatchObject({ path: "1/model/tree.w/1" });
    withTree(files, [treeEntry(["tree", "w"])], { store_array_data_equal_to_fill_value: false });
    expect(Array.from((await model<W<Float32Array>>(files)).w.data)).toEqual([0, 0, 0, 0, 1.5, 1.5, 1.5, 1.5]);
  });

  it("4: every leaf that is missing, unexpected or of another shape is told, all at once", async () => {
    const files = handmadeStep({ a: {}, b: {}, c: {} });
    const four = shapeDtypeStruct([4], "float32");
    const error = await failureOf(model(files, { templates: { model: { a: four, b: shapeDtypeStruct([5], "float32"), d: four } } }));
    expect(error).toBeInstanceOf(CheckpointTreeMismatchError);
    const problems = (error as CheckpointTreeMismatchError).mismatches.map(({ leaf, problem }) => `${leaf} ${problem}`);
    expect(problems.sort()).toEqual(["b shape", "c unexpected", "d missing"]);
  });

  it("5: bfloat16 is known by its name, and two bytes of anything are not taken for it", async () => {
    const bits = Uint16Array.of(0x3f80, 0x7fc0, 0x8000, 0x7f7f);
    const { w } = await model<W<Uint16Array>>(arrayOf({ dtype: "bfloat16" }, bits));
    expect(w.data).toEqual(bits);
    expect(Array.from(w.toFloat32())).toEqual([1, Number.NaN, -0, 3.3895313892515355e38]);
    const error = await failureOf(model(arrayOf({ dtype: "<V2" }, bits)));
    expect(error).toBeInstanceOf(UnsupportedCheckpointError);
    expect(String(error)).toContain('"<V2"');
  });

  it("6: big-endian chunks are the same each time they are read", async () => {
    const stored = Uint8Array.of(0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 0x80, 0, 0);
    const files = handmadeStep(
      { w: { zarray: { dtype: ">f4" }, chunks: { 0: indirect(0n, 16n) } } },
      { table: ownFiles("d/x"), files: { "1/model/d/x": stored } },
    );
    const opened = await storeOf(files).open(1);
    for (let time = 0; time < 3; time++) {
      const { items } = await opened.restore();
      expect([...(items.model as unknown as W<Float32Array>).w.data]).toEqual([1, -2, 0, Number.POSITIVE_INFINITY]);
    }
    expect(stored[0]).toBe(0x3f);
  });

  it("7: 64-bit integers are exact in memory, refused on a device, and kept there when asked", async () => {
    const value = 2n ** 53n + 1n;
    const zarray = { shape: [], chunks: [], dtype: "<i8" };
    const files = arrayOf(zarray, BigInt64Array.of(value));
    expect((await model<W<BigInt64Array>>(files)).w.data).toEqual(BigInt64Array.of(value));
    const device = new FakeDevice();
    const error = await failureOf(model(files, { device: device.gpu }));
    expect(error).toMatchObject({ name: "CheckpointDtypeMismatchError", x64Disabled: true });
    expect(String(error)).toMatch(/castDtypes: true.*enableX64: true/);
    const { w } = await model<{ w: GpuArray }>(files, { device: device.gpu, enableX64: true });
    expect((await w.read()).data).toEqual(BigInt64Array.of(value));
    withTree(files, [treeEntry(["tree", "w"], "scalar")]);
    expect(await model(files)).toEqual({ w: value });
  });

  it("8: a typed PRNG key keeps its implementation, which array_metadatas alone tells", async () => {
    const data = Uint32Array.of(1, 2);
    const files = arrayOf({ shape: [2], chunks: [2], dtype: "<u4" }, data);
    const metadata = { param_name: "tree.w", write_shape: [2], chunk_shape: [2], ext_metadata: { random_key_impl: "threefry2x32" } };
    files.set("1/model/array_metadatas/process_0", jsonBytes({ array_metadatas: [{ array_metadata: metadata }] }));
    const { w } = await model<{ w: PrngKey<HostArray<"uint32">> }>(files);
    expect(w).toMatchObject({ impl: "threefry2x32", data: { dtype: "uint32", data } });
    files.delete("1/model/array_metadatas/process_0");
    expect((await model<W<Uint32Array>>(files)).w.data).toEqual(data);
  });

  it("9: empty dicts and lists and None stay where they are", async () => {
    const entries = [treeEntry(["tree", "d"], "Dict"), treeEntry(["tree", "l"], "List"), treeEntry(["tree", "n"], "None")];
    expect(await model(withTree(handmadeStep({}), entries))).toEqual({ d: {}, l: [], n: null });
  });

  it("10: a scalar has the chunk 0 in zarr v2 and c in v3", async () => {
    expect((await model<W<Float32Array>>(arrayOf({ shape: [], chunks: [] }, Float32Array.of(7)))).w).toMatchObject({
      shape: [],
      data: Float32Array.of(7),
    });
    const v3 = { zarr_format: 3, node_type: "array", shape: [], data_type: "float32", fill_value: 0, codecs: [{ name: "bytes" }] };
    const grid = { chunk_grid: { name: "regular", configuration: { chunk_shape: [] } }, chunk_key_encoding: { name: "default" } };
    const root = leafOf({
      "tree.w/c": inlineBytes(bytesOf(Float32Array.of(8))),
      "tree.w/zarr.json": inline(JSON.stringify({ ...v3, ...grid })),
    });
    const files = handmadeStep({ w: {} }, { files: { "1/model/root": root, "1/model/manifest.ocdbt": manifestOf(root) } });
    expect((await model<W<Float32Array>>(files)).w).toMatchObject({ shape: [], data: Float32Array.of(8) });
  });

  it("11: an array without elements needs no chunk, and has a buffer that can be bound", async () => {
    const files = handmadeStep({
      a: { zarray: { shape: [0], chunks: [1] }, chunks: {} },
      b: { zarray: { shape: [3, 0], chunks: [3, 1] }, chunks: {} },
    });
    const { a, b } = await model<Record<"a" | "b", GpuArray>>(files, { device: new FakeDevice().gpu });
    expect([a.shape, a.byteLength, a.buffer.size, b.shape]).toEqual([[0], 0, 16, [3, 0]]);
  });

  it("12: keys with slashes and dots are kept whole; two that Orbax stores as one array give it twice", async () => {
    const files = handmadeStep({ "linear/~/w": {}, "a.b": { chunks: { 0: inlineBytes(bytesOf(Float32Array.of(1, 2, 3, 4))) } } });
    withTree(files, [treeEntry(["tree", "linear/~/w"]), treeEntry(["tree", "a.b"]), treeEntry(["tree", "a", "b"])]);
    const tree = await model<{ "linear/~/w": HostArray; "a.b": HostArray; a: { b: HostArray } }>(files);
    expect(tree["linear/~/w"].shape).toEqual([4]);
    expect(tree["a.b"].data).toEqual(tree.a.b.data);
  });

  it("13: float64 is kept as it is stored, whatever a template or a flag elsewhere says", async () => {
    const files = arrayOf({ dtype: "<f8", shape: [1], chunks: [1] }, Float64Array.of(0.1));
    expect((await model<W<Float64Array>>(files)).w.data).toEqual(Float64Array.of(0.1));
    const templates = { model: { w: shapeDtypeStruct([1], "float32") } };
    expect(await failureOf(model(files, { templates }))).toMatchObject({
      mismatches: [{ leaf: "w", saved: "float64", restored: "float32" }],
    });
  });

  it("14: int4 is one byte an element, sign-extended from its low half", async () => {
    const files = arrayOf({ dtype: "int4" }, Uint8Array.of(0x08, 0x0f, 0x07, 0xf8));
    expect((await model<W<Int8Array>>(files)).w.data).toEqual(Int8Array.of(-8, -1, 7, -8));
  });

  // Synthetic: TensorStore writes neither. The names are zarr's, in its registry of extensions.
  it.each([
    ["uint2", [3, 2, 1, 0]],
    ["uint4", [15, 14, 9, 8]],
  ] as const)("14: %s is one byte an element, of which its own bits alone count", async (dtype, values) => {
    const files = arrayOf({ dtype }, Uint8Array.of(0x3f, 0xfe, 0x09, 0x08));
    const expected = Uint8Array.from(values, (value) => value & (dtype === "uint2" ? 3 : 15));
    expect((await model<W<Uint8Array>>(files)).w).toMatchObject({ dtype, data: expected });
    const device = new FakeDevice();
    await model(files, { device: device.gpu });
    expect(device.buffers.map(({ bytes }) => bytes.subarray(0, 5))).toEqual([Uint8Array.of(...expected, 0)]);
    const templates = { model: { w: shapeDtypeStruct([4], "float32") } };
    expect(await failureOf(model(files, { templates }))).toMatchObject({ mismatches: [{ leaf: "w", saved: dtype, restored: "float32" }] });
    const cast = await model<W<Float32Array>>(files, { templates, castDtypes: true });
    expect(cast.w.data).toEqual(Float32Array.from(expected));
  });

  it("15: the order of a single byte does not matter, and more bytes need one", async () => {
    for (const dtype of ["<i1", ">i1", "|i1"])
      expect((await model<W<Int8Array>>(arrayOf({ dtype }, Int8Array.of(1, 2, 3, -4)))).w.data[3]).toBe(-4);
    const error = await failureOf(model(arrayOf({ dtype: "|i2" }, Int16Array.of(1, 2, 3, 4))));
    expect(error).toBeInstanceOf(UnsupportedCheckpointError);
    expect(String(error)).toMatch(/"\|i2" has no byte order/);
  });

  it("16: states of optax come back with lists for tuples and objects for namedtuples", async () => {
    const { optimizer } = (await storeOf(filesOfStep("digits", 1200)).restore(1200)).items;
    expect(optimizer).toMatchObject([{ count: { dtype: "int32" }, mu: {}, nu: {} }, null]);
  });

  it("54: values at odd offsets of a file are right, and too few bytes are told with both numbers", async () => {
    const values = Float32Array.of(1, -2, 3.5, Number.NaN);
    const stored = Uint8Array.of(9, ...bytesOf(values), 9, 9);
    const at = (length: bigint) =>
      handmadeStep({ w: { chunks: { 0: indirect(1n, length) } } }, { table: ownFiles("d/x"), files: { "1/model/d/x": stored } });
    expect((await model<W<Float32Array>>(at(16n))).w.data).toEqual(values);
    const device = new FakeDevice();
    const { w } = await model<{ w: GpuArray }>(at(16n), { device: device.gpu });
    expect(w.buffer).toBeInstanceOf(FakeBuffer);
    expect((await w.read()).data).toEqual(values);
    const error = await failureOf(model(at(15n)));
    expect(error).toBeInstanceOf(CorruptCheckpointError);
    expect(String(error)).toMatch(/1\/model\/d\/x at byte 1: expected 16 bytes.*received 15/);
    expect(await failureOf(model(at(18n)))).toBeInstanceOf(CorruptCheckpointError);
    stored.fill(0);
    expect(
      await failureOf(
        model(handmadeStep({ w: { chunks: { 0: indirect(10n, 16n) } } }, { table: ownFiles("d/x"), files: { "1/model/d/x": stored } })),
      ),
    ).toBeInstanceOf(StorageError);
  });
});

describe("which bytes are the checkpoint", () => {
  it("19: each array's own metadata say how it is compressed", async () => {
    const values = bytesOf(Float32Array.of(1, 2, 3, 4));
    const compressed = (id: string, bytes: Uint8Array): HandmadeArray => ({
      zarray: { compressor: { id, level: 1 } },
      chunks: { 0: inlineBytes(bytes) },
    });
    const files = handmadeStep({
      gzip: compressed("gzip", gzipSync(values)),
      none: { chunks: { 0: inlineBytes(values) } },
      zlib: compressed("zlib", deflateSync(values)),
    });
    const tree = await model<Record<string, HostArray>>(files);
    for (const { data } of Object.values(tree)) expect([...data]).toEqual([1, 2, 3, 4]);
  });

  it("20, 24: neither marks of completion nor shardings are needed, whatever they say", async () => {
    const files = filesOfStep("sharded", 1);
    for (const path of files.keys()) if (/commit_success|_CHECKPOINT_METADATA/.test(path)) files.delete(path);
    files.set("1/model/_sharding", jsonBytes("no JSON"));
    expect(Object.keys((await storeOf(files).restore(1)).items)).toContain("model");
  });

  it("21, 22: leftovers of saves and other names are no steps", async () => {
    const names = ["20000", "30000.orbax-checkpoint-tmp-0", "step-100.backup", "000022282240", "5_backup"];
    const files = new Map(names.map((name) => [`${name}/metadata/metadata`, recordOf({ step: 20000, items: [] })]));
    expect(await storeOf(files).listSteps()).toEqual([20000]);
  });

  it("26: an array without its .zarray is told with the file's name, and that copies lose dot-files", async () => {
    const entries = entriesOf({ w: {} });
    const root = leafOf({ "tree.w/0": entries["tree.w/0"] ?? inline("") });
    const files = handmadeStep({ w: {} }, { files: { "1/model/root": root, "1/model/manifest.ocdbt": manifestOf(root) } });
    const error = await failureOf(model(files));
    expect(error).toMatchObject({ name: "CorruptCheckpointError", path: "1/model/tree.w/.zarray" });
    expect(String(error)).toMatch(/dot-files and folders included/);
  });

  it("27: all arrays without metadata are told before the first buffer is made", async () => {
    const { "tree.b/.zarray": _b, "tree.d/.zarray": _d, ...rest } = entriesOf({ a: {}, b: {}, c: {}, d: {} });
    const root = leafOf(rest);
    const files = handmadeStep(
      { a: {}, b: {}, c: {}, d: {} },
      { files: { "1/model/root": root, "1/model/manifest.ocdbt": manifestOf(root) } },
    );
    const device = new FakeDevice();
    const error = await failureOf(model(files, { device: device.gpu }));
    expect(error).toBeInstanceOf(CorruptCheckpointError);
    expect(String(error)).toContain('none for "tree/b", "tree/d"');
    expect(device.buffers).toEqual([]);
  });

  it("30: bare NaN and Infinity in a record are numbers, and a broken record hides no other step", async () => {
    const text = '{"format": "substrax-checkpoint", "step": 1, "items": [], "created_at": "", "metrics": {"a": NaN, "b": -Infinity}}';
    const files = new Map([
      ["1/metadata/metadata", jsonBytes(text)],
      ["2/metadata/metadata", jsonBytes("{")],
    ]);
    const store = storeOf(files);
    expect((await store.readMetadata(1)).metrics).toEqual({ a: Number.NaN, b: Number.NEGATIVE_INFINITY });
    expect(await store.listSteps()).toEqual([1, 2]);
  });

  it("33: an opened step stays at the version it was opened at, and each manifest is read once", async () => {
    const valued = (value: number) => handmadeStep({ w: { chunks: { 0: inlineBytes(bytesOf(new Float32Array(4).fill(value))) } } });
    const storage = memoryStorage(valued(1));
    const reads: string[] = [];
    const watched: ReadableStorage = {
      list: (prefix) => storage.list(prefix),
      read: async (path, options) => {
        reads.push(path);
        return storage.read(path, options);
      },
    };
    const opened = await storeOf(watched).open(1);
    for (const [path, bytes] of valued(2)) await storage.write(path, bytes);
    const first = (await opened.restore()).items.model as unknown as W<Float32Array>;
    const second = (await storeOf(storage).restore(1)).items.model as unknown as W<Float32Array>;
    expect([first.w.data[0], second.w.data[0]]).toEqual([1, 2]);
    expect(reads.filter((path) => path.endsWith("manifest.ocdbt"))).toEqual(["1/model/manifest.ocdbt"]);
  });

  it("34: further members of a compressor's configuration do not matter", async () => {
    const zarray = { compressor: { id: "gzip", level: 1, checksum: false, other: { a: 1 } } };
    const files = handmadeStep({ w: { zarray, chunks: { 0: inlineBytes(gzipSync(new Uint8Array(16))) } } });
    expect(Array.from((await model<W<Float32Array>>(files)).w.data)).toEqual([0, 0, 0, 0]);
  });
});
