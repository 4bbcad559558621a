import { expect, test } from "vitest";
import { CorruptCheckpointError, UnsupportedCheckpointError } from "../errors.js";
import { parseZarrJson } from "./zarrJson.js";

const bytes = { name: "bytes", configuration: { endian: "little" } };
const zstd = { name: "zstd", configuration: { checksum: false, level: 3 } };
const sharding = (configuration: object = {}) => ({
  name: "sharding_indexed",
  configuration: { chunk_shape: [8], codecs: [bytes, zstd], index_codecs: [bytes, { name: "crc32c" }], ...configuration },
});
const orbax = {
  chunk_grid: { configuration: { chunk_shape: [8] }, name: "regular" },
  chunk_key_encoding: { name: "default" },
  codecs: [sharding()],
  data_type: "int32",
  fill_value: 0,
  node_type: "array",
  shape: [8],
  zarr_format: 3,
};

const parse = (members: object) => parseZarrJson(new TextEncoder().encode(JSON.stringify(members)), "a/zarr.json");

test("what Orbax writes: shards of one chunk", () => {
  const { spec, grid, compression, shard } = parse(orbax);
  expect(spec).toEqual({ shape: [8], dtype: "int32" });
  expect(grid.keyOf([0])).toBe("c/0");
  expect(compression).toEqual(["zstd"]);
  const index = { indexLocation: "end", indexByteOrder: "little", indexIsChecked: true };
  expect(shard).toEqual({ chunkShape: [8], chunksPerShard: [1], ...index, outer: [] });
});

test("a chain without shards", () => {
  const big = { name: "bytes", configuration: { endian: "big" } };
  expect(parse({ ...orbax, codecs: [big] })).toMatchObject({ compression: [], byteOrder: "big", transposed: false, shard: undefined });
  const transpose = { name: "transpose", configuration: { order: [1, 0] } };
  const square = { ...orbax, shape: [4, 4], chunk_grid: { name: "regular", configuration: { chunk_shape: [2, 4] } } };
  expect(parse({ ...square, codecs: [transpose, { name: "bytes" }, zstd] })).toMatchObject({ compression: ["zstd"], transposed: true });
});

test("compressors and checksums in any order, around shards and in shards within shards", () => {
  const crc32c = { name: "crc32c" };
  const gzip = { name: "gzip", configuration: { level: 1 } };
  expect(parse({ ...orbax, codecs: [bytes, gzip, zstd, crc32c] }).compression).toEqual(["gzip", "zstd", "crc32c"]);
  const big = { name: "bytes", configuration: { endian: "big" } };
  const inner = sharding({ chunk_shape: [2], codecs: [bytes, crc32c], index_codecs: [big], index_location: "start" });
  const { compression, shard } = parse({ ...orbax, codecs: [sharding({ chunk_shape: [4], codecs: [inner] }), zstd] });
  expect(compression).toEqual(["crc32c"]);
  expect(shard).toMatchObject({
    chunksPerShard: [2],
    outer: ["zstd"],
    inner: { chunksPerShard: [2], outer: [], indexLocation: "start", indexByteOrder: "big", indexIsChecked: false },
  });
});

const transpose = (order: unknown) => ({ name: "transpose", configuration: { order } });
const cube = { ...orbax, shape: [6, 12, 10], chunk_grid: { name: "regular", configuration: { chunk_shape: [4, 6, 10] } } };

test("a transpose around shards changes the order of their index, and of what lies in the chunks; shapes stay the array's", () => {
  const { shard, transposed, document } = parse({ ...cube, codecs: [transpose([2, 0, 1]), sharding({ chunk_shape: [5, 2, 3] })] });
  expect(shard).toMatchObject({ chunkShape: [2, 3, 5], chunksPerShard: [2, 2, 2], indexOrder: [2, 0, 1] });
  expect(transposed).toBe(true);
  expect(document).toMatchObject({ codecs: [transpose([2, 0, 1]), bytes], chunk_grid: { configuration: { chunk_shape: [2, 3, 5] } } });
  const twice = parse({ ...cube, codecs: [transpose([2, 0, 1]), transpose([1, 0, 2]), sharding({ chunk_shape: [2, 5, 3] })] });
  expect(twice.shard).toMatchObject({ chunkShape: [2, 3, 5], indexOrder: [0, 2, 1] });
  const within = sharding({ chunk_shape: [10, 2, 3], codecs: [transpose([1, 0, 2]), sharding({ chunk_shape: [2, 5, 3] })] });
  const levels = parse({ ...cube, codecs: [transpose([2, 0, 1]), within] });
  expect(levels.shard).toMatchObject({
    chunkShape: [2, 3, 10],
    indexOrder: [2, 0, 1],
    inner: { chunkShape: [2, 3, 5], indexOrder: [0, 2, 1] },
  });
});

test("transposes that end in the array's order leave nothing to do", () => {
  const back = sharding({ chunk_shape: [5, 2, 3], codecs: [transpose([1, 2, 0]), bytes] });
  const { shard, transposed, document } = parse({ ...cube, codecs: [transpose([2, 0, 1]), back] });
  expect([shard?.indexOrder, transposed, document]).toEqual([[2, 0, 1], false, undefined]);
  for (const order of [[0, 1, 2], "C"]) expect(parse({ ...cube, codecs: [transpose(order), bytes] }).transposed).toBe(false);
  // TensorStore reads "F" too, and writes numbers for it.
  expect(parse({ ...cube, codecs: [transpose("F"), bytes] }).document).toMatchObject({ codecs: [transpose([2, 1, 0]), bytes] });
});

test("keys by both encodings and separators; a scalar's are c and 0", () => {
  const keyOf = (chunk_key_encoding: object, indices: number[]) => parse({ ...orbax, chunk_key_encoding }).grid.keyOf(indices);
  expect(keyOf({ name: "default" }, [1, 2])).toBe("c/1/2");
  expect(keyOf({ name: "default", configuration: { separator: "." } }, [1, 2])).toBe("c.1.2");
  expect(keyOf({ name: "v2" }, [1, 2])).toBe("1.2");
  expect(keyOf({ name: "v2", configuration: { separator: "/" } }, [1, 2])).toBe("1/2");
  expect(keyOf({ name: "default" }, [])).toBe("c");
  expect(keyOf({ name: "v2" }, [])).toBe("0");
});

test("every member is required", () => {
  for (const name of Object.keys(orbax)) {
    const { [name as keyof typeof orbax]: _, ...rest } = orbax;
    expect(() => parse(rest), name).toThrow(CorruptCheckpointError);
  }
});

test("members of a wrong value are damage", () => {
  const wrong = [
    { node_type: "group" },
    { zarr_format: 2 },
    { fill_value: null },
    { codecs: [] },
    { codecs: [sharding({ chunk_shape: [3] })] },
    { codecs: [sharding({ chunk_shape: [8, 1] })] },
    { codecs: [sharding({ index_location: "middle" })] },
    { codecs: [{ name: "transpose", configuration: { order: [1] } }, bytes] },
    { codecs: [{ name: "transpose", configuration: { order: [0, 0] } }, bytes] },
    { codecs: [{ name: "transpose", configuration: { order: "A" } }, bytes] },
    { codecs: [{ name: "transpose", configuration: { order: [0] } }] },
    { codecs: [{ name: "transpose", configuration: { order: [0] } }, sharding({ chunk_shape: [3] })] },
    { chunk_key_encoding: { name: "mine" } },
    { chunk_grid: { name: "regular", configuration: { chunk_shape: [8, 8] } } },
  ];
  for (const members of wrong) expect(() => parse({ ...orbax, ...members }), JSON.stringify(members)).toThrow(CorruptCheckpointError);
});

test("chunks of shards divide them in the order that a transpose leaves", () => {
  const wrong = { ...cube, codecs: [transpose([2, 0, 1]), sharding({ chunk_shape: [2, 3, 5] })] };
  expect(() => parse(wrong)).toThrow(/lengths that divide the shard's \[10, 4, 6\]/);
});

test("what is valid zarr but not read is refused by name", () => {
  const refused: [object, string][] = [
    [{ data_type: "float8_e4m3" }, '"float8_e4m3"'],
    [{ codecs: [bytes, { name: "lz4" }] }, '"lz4"'],
    [{ codecs: [{ name: "vlen-utf8" }] }, '"vlen-utf8"'],
    // As zarr-python 3 writes it for a filter.
    [{ codecs: [{ name: "numcodecs.delta", configuration: { dtype: "<i4" } }, bytes] }, 'codec "numcodecs.delta" is not read before'],
    [{ codecs: [{ name: "transpose", configuration: { order: [0] } }, { name: "vlen-bytes" }] }, '"vlen-bytes"'],
    [{ codecs: [bytes, { name: "transpose", configuration: { order: [0] } }] }, '"transpose"'],
    [{ codecs: [sharding({ index_codecs: [bytes, zstd] })] }, "a shard index"],
    [{ codecs: [sharding({ index_codecs: [bytes, { name: "crc32c" }, zstd] })] }, "a shard index"],
    [{ codecs: [sharding({ index_codecs: [] })] }, "a shard index"],
    [{ chunk_grid: { name: "rectangular", configuration: {} } }, '"rectangular"'],
    [{ storage_transformers: [{ name: "x" }] }, "storage transformers"],
  ];
  for (const [members, text] of refused) {
    expect(() => parse({ ...orbax, ...members }), text).toThrow(UnsupportedCheckpointError);
    expect(() => parse({ ...orbax, ...members }), text).toThrow(text);
  }
});

test("of sizes beyond 2^53 bytes nothing is left behind that fails later", async () => {
  const huge = {
    ...orbax,
    codecs: [bytes],
    shape: [1e9, 1e9, 1e9],
    chunk_grid: { configuration: { chunk_shape: [1, 1, 1] }, name: "regular" },
  };
  expect(() => parse({ ...huge, data_type: "float8_e8m0fnu", fill_value: 1 })).toThrow("expected sizes below 2^53 bytes");
  await new Promise((resolve) => setTimeout(resolve, 10)); // an unhandled rejection fails the run
});
