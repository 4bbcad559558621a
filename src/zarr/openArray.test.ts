import { expect, test, vi } from "vitest";
import { open } from "zarrita";
import { CorruptCheckpointError } from "../errors.js";
import { memoryStorage } from "../storage/memory.js";
import { Pace } from "../tasks/pace.js";
import { type ArrayStorage, openZarrArray, openZarrArrays } from "./openArray.js";

vi.mock("zarrita", async (original) => {
  const real = await original<typeof import("zarrita")>();
  return { ...real, open: { v2: vi.fn(real.open.v2), v3: vi.fn(real.open.v3) } };
});

const zarray = {
  chunks: [2, 3],
  compressor: null,
  dtype: "bfloat16",
  fill_value: null,
  filters: null,
  order: "C",
  shape: [3, 4],
  zarr_format: 2,
};
const json = (value: object) => new TextEncoder().encode(JSON.stringify(value));

test("an array is known before any chunk is read", async () => {
  const array = await openZarrArray(memoryStorage({ "model.w/.zarray": json(zarray) }), "model.w");
  expect(array).toMatchObject({
    name: "model.w",
    spec: { shape: [3, 4], dtype: "bfloat16" },
    chunkShape: [2, 3],
    chunkCount: 4,
    chunkByteLength: 12,
    codec: "none",
    streamable: true,
  });
  expect([...(array?.chunks() ?? [])].map(({ key }) => key)).toEqual(["model.w/0.0", "model.w/0.1", "model.w/1.0", "model.w/1.1"]);
});

test("an array at the storage's root has keys without a leading slash", async () => {
  const array = await openZarrArray(memoryStorage({ ".zarray": json({ ...zarray, shape: [], chunks: [] }) }), "");
  expect([...(array?.chunks() ?? [])]).toEqual([{ key: "0", origin: [] }]);
  expect(array?.chunkByteLength).toBe(2);
});

test("neither .zarray nor zarr.json is undefined", async () => {
  expect(await openZarrArray(memoryStorage(), "w")).toBeUndefined();
});

test("zarr v3 is found where there is no .zarray", async () => {
  const v3 = {
    chunk_grid: { name: "regular", configuration: { chunk_shape: [4] } },
    chunk_key_encoding: { name: "default" },
    codecs: [{ name: "bytes" }],
    data_type: "float8_e5m2",
    fill_value: 0,
    node_type: "array",
    shape: [7],
    zarr_format: 3,
  };
  const array = await openZarrArray(memoryStorage({ "w/zarr.json": json(v3) }), "w");
  expect(array).toMatchObject({ spec: { shape: [7], dtype: "float8_e5m2" }, chunkCount: 2, streamable: true });
  expect([...(array?.chunks() ?? [])].map(({ key }) => key)).toEqual(["w/c/0", "w/c/1"]);
});

test("only chunks in C order can be streamed", async () => {
  const array = await openZarrArray(memoryStorage({ "w/.zarray": json({ ...zarray, order: "F" }) }), "w");
  expect(array?.streamable).toBe(false);
});

test("a hostile shape allocates nothing", async () => {
  const shape = [10 ** 5, 10 ** 5, 10 ** 5];
  const array = await openZarrArray(memoryStorage({ "w/.zarray": json({ ...zarray, dtype: "|u1", shape, chunks: [1, 1, 1] }) }), "w");
  expect(array?.chunkCount).toBe(10 ** 15);
});

test("damage names the file", async () => {
  const opened = openZarrArray(memoryStorage({ "w/.zarray": new Uint8Array([123]) }), "w");
  await expect(opened).rejects.toThrow(CorruptCheckpointError);
  await expect(opened).rejects.toThrow("w/.zarray");
});

test("the signal reaches the storage", async () => {
  const opened = openZarrArray(memoryStorage({ "w/.zarray": json(zarray) }), "w", { signal: AbortSignal.abort(new Error("stop")) });
  await expect(opened).rejects.toThrow("stop");
});

test("zarrita is asked only where elements have to be put into another order", async () => {
  const [v2, v3] = [vi.mocked(open.v2).mockClear(), vi.mocked(open.v3).mockClear()];
  const v3Array = (codecs: readonly object[]) => ({
    chunk_grid: { name: "regular", configuration: { chunk_shape: [4, 2] } },
    chunk_key_encoding: { name: "default" },
    codecs,
    data_type: "int32",
    fill_value: 0,
    node_type: "array",
    shape: [8, 2],
    zarr_format: 3,
  });
  const bytes = { name: "bytes", configuration: { endian: "little" } };
  const index = [bytes, { name: "crc32c" }];
  const sharded = { name: "sharding_indexed", configuration: { chunk_shape: [2, 2], codecs: [bytes], index_codecs: index } };
  const common = {
    "a/.zarray": json({ ...zarray, compressor: { id: "zstd", level: 1 } }),
    "b/.zarray": json({ ...zarray, dtype: ">f4", shape: [], chunks: [] }),
    "c/.zarray": json({ ...zarray, order: "F", shape: [3], chunks: [2] }),
    "d/zarr.json": json(v3Array([bytes, { name: "zstd", configuration: { level: 1 } }])),
    "e/zarr.json": json(v3Array([sharded])),
    "f/zarr.json": json(v3Array([{ name: "transpose", configuration: { order: [0, 1] } }, bytes])),
  };
  const arrays = await openZarrArrays(memoryStorage(common), ["a", "b", "c", "d", "e", "f"], { pace: new Pace() });
  expect(arrays.map((array) => array?.stored.toRowMajor)).toEqual(arrays.map(() => undefined));
  expect(v2.mock.calls.length + v3.mock.calls.length).toBe(0);
  const rare = {
    "a/.zarray": json({ ...zarray, order: "F" }),
    "b/zarr.json": json(v3Array([{ name: "transpose", configuration: { order: [1, 0] } }, bytes])),
    "c/zarr.json": json(v3Array([{ name: "transpose", configuration: { order: [1, 0] } }, sharded])),
  };
  const transposed = await openZarrArrays(memoryStorage(rare), ["a", "b", "c"], { pace: new Pace() });
  expect(transposed.every((array) => array?.stored.toRowMajor !== undefined)).toBe(true);
  expect([v2.mock.calls.length, v3.mock.calls.length]).toEqual([1, 2]);
});

test("many arrays are read together where the storage can, and zarr.json only of those without .zarray", async () => {
  const files = memoryStorage({ "a/.zarray": json(zarray), "c/.zarray": json({ ...zarray, dtype: "<f4" }) });
  const asked: (readonly string[])[] = [];
  const storage: ArrayStorage = {
    read: () => Promise.reject(new Error("one by one")),
    readAll: (keys) => {
      asked.push(keys);
      return Promise.all(keys.map((key) => files.read(key)));
    },
  };
  const found = await openZarrArrays(storage, ["a", "c"], { pace: new Pace() });
  expect(found.map((array) => array?.spec.dtype)).toEqual(["bfloat16", "float32"]);
  expect(asked).toEqual([["a/.zarray", "c/.zarray"]]);
  expect((await openZarrArrays(storage, ["a", "b", "c"], { pace: new Pace() })).map((array) => array?.name)).toEqual(["a", undefined, "c"]);
  expect(asked.slice(1)).toEqual([["a/.zarray", "b/.zarray", "c/.zarray"], ["b/zarr.json"]]);
  await openZarrArrays(storage, ["a", "c"], { pace: new Pace(), likely: 3 });
  expect(asked.slice(3)).toEqual([
    ["a/zarr.json", "c/zarr.json"],
    ["a/.zarray", "c/.zarray"],
  ]);
});

test("arrays of the same metadata keep their own names, and one that differs its own metadata", async () => {
  const names = ["a", "b", "c"];
  const other = { ...zarray, dtype: "<f4", chunks: [3, 3] };
  const files = Object.fromEntries(names.map((name) => [`${name}/.zarray`, json(name === "b" ? other : zarray)]));
  const [a, b, c] = await openZarrArrays(memoryStorage(files), names, { pace: new Pace() });
  expect([a?.name, b?.name, c?.name]).toEqual(names);
  expect([a?.spec.dtype, b?.spec.dtype, c?.spec.dtype]).toEqual(["bfloat16", "float32", "bfloat16"]);
  expect(a?.spec).toBe(c?.spec);
  expect([...(c?.chunks() ?? [])].map(({ key }) => key)).toEqual(["c/0.0", "c/0.1", "c/1.0", "c/1.1"]);
  expect([...(b?.chunks() ?? [])].map(({ key }) => key)).toEqual(["b/0.0", "b/0.1"]);
});

test("damage that two arrays share names the first of them", async () => {
  const files = { "a/.zarray": json(zarray), "b/.zarray": json({ ...zarray, order: "X" }), "c/.zarray": json({ ...zarray, order: "X" }) };
  await expect(openZarrArrays(memoryStorage(files), ["a", "b", "c"], { pace: new Pace() })).rejects.toMatchObject({ path: "b/.zarray" });
});
