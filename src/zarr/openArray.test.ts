import { expect, test } from "vitest";
import { CorruptCheckpointError } from "../errors.js";
import { memoryStorage } from "../storage/memory.js";
import { openZarrArray } from "./openArray.js";

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
