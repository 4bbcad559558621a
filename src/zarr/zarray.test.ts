import { expect, test } from "vitest";
import { CorruptCheckpointError, UnsupportedCheckpointError } from "../errors.js";
import { parseZarray } from "./zarray.js";

const orbax = {
  chunks: [8],
  compressor: { id: "zstd", level: 1 },
  dimension_separator: ".",
  dtype: "<i4",
  fill_value: null,
  filters: null,
  order: "C",
  shape: [8],
  zarr_format: 2,
};

const parse = (members: object) => parseZarray(new TextEncoder().encode(JSON.stringify(members)), "w/.zarray");

test("what Orbax writes", () => {
  const { spec, grid, compression, byteOrder, transposed } = parse(orbax);
  expect(spec).toEqual({ shape: [8], dtype: "int32" });
  expect(grid.chunkShape).toEqual([8]);
  expect(grid.keyOf([0])).toBe("0");
  expect({ compression, byteOrder, transposed }).toEqual({ compression: ["zstd"], byteOrder: "little", transposed: false });
});

test("keys join the indices with the separator; a scalar's is 0", () => {
  const square = { ...orbax, shape: [4, 4], chunks: [2, 2] };
  expect(parse(square).grid.keyOf([1, 0])).toBe("1.0");
  expect(parse({ ...square, dimension_separator: "/" }).grid.keyOf([1, 0])).toBe("1/0");
  const { dimension_separator: _, ...without } = square;
  expect(parse(without).grid.keyOf([1, 0])).toBe("1.0");
  expect(parse({ ...orbax, shape: [], chunks: [] }).grid.keyOf([])).toBe("0");
});

test("every other member is required", () => {
  for (const name of ["chunks", "compressor", "dtype", "fill_value", "filters", "order", "shape", "zarr_format"]) {
    const { [name as keyof typeof orbax]: _, ...rest } = orbax;
    expect(() => parse(rest), name).toThrow(CorruptCheckpointError);
    expect(() => parse(rest), name).toThrow(name);
  }
});

test("unknown members are ignored, in the compressor too", () => {
  expect(parse({ ...orbax, note: 1, compressor: { id: "zstd", level: 1, checksum: false } }).compression).toEqual(["zstd"]);
  expect(parse({ ...orbax, compressor: { id: "gzip", level: 1 } }).compression).toEqual(["gzip"]);
  expect(parse({ ...orbax, compressor: null, filters: [] }).compression).toEqual([]);
});

test("members of a wrong type or value are damage", () => {
  const wrong = [
    { zarr_format: 3 },
    { zarr_format: "2" },
    { shape: [-1] },
    { shape: [2.5] },
    { shape: [2 ** 53], chunks: [1] },
    { shape: 8 },
    { shape: null },
    { chunks: [0] },
    { chunks: [8, 1] },
    { chunks: null },
    { chunks: ["8"] },
    { order: "A" },
    { dimension_separator: "-" },
    { dimension_separator: null },
    { compressor: {} },
    { compressor: "zstd" },
    { filters: "none" },
    { dtype: 5 },
    { dtype: null },
    { fill_value: "x" },
    { shape: new Array(33).fill(1), chunks: new Array(33).fill(1) },
  ];
  for (const members of wrong) expect(() => parse({ ...orbax, ...members }), JSON.stringify(members)).toThrow(CorruptCheckpointError);
  expect(() => parseZarray(new TextEncoder().encode("[]"), "w/.zarray")).toThrow(CorruptCheckpointError);
  expect(() => parseZarray(new Uint8Array(0), "w/.zarray")).toThrow(CorruptCheckpointError);
});

test("what is valid zarr but not read is refused by name", () => {
  expect(() => parse({ ...orbax, compressor: { id: "lz4" } })).toThrow(UnsupportedCheckpointError);
  expect(() => parse({ ...orbax, compressor: { id: "lz4" } })).toThrow('w/.zarray: compressor "lz4" is not read');
  expect(() => parse({ ...orbax, compressor: { id: "none" } })).toThrow(UnsupportedCheckpointError);
  // As zarr-python 2 writes it.
  const filters = [{ astype: "<i4", dtype: "<i4", id: "delta" }];
  expect(() => parse({ ...orbax, filters })).toThrow(
    /^w\/.zarray: filters are not read, and this array has "delta": write it again with "filters": null/,
  );
  expect(() => parse({ ...orbax, dtype: [["x", "<i4"]] })).toThrow("structured dtypes are not read");
});

test("sizes beyond 2^53 bytes are damage, huge ones below are only numbers", () => {
  expect(() => parse({ ...orbax, shape: [2 ** 51], chunks: [1] })).toThrow(CorruptCheckpointError);
  expect(() => parse({ ...orbax, shape: [1], chunks: [2 ** 51] })).toThrow(CorruptCheckpointError);
  expect(() => parse({ ...orbax, shape: [2 ** 40, 2 ** 40], chunks: [1, 1] })).toThrow("expected sizes below 2^53 bytes");
  expect(parse({ ...orbax, shape: [10 ** 15], chunks: [1] }).spec.shape).toEqual([10 ** 15]);
  expect(parse({ ...orbax, shape: [2 ** 50, 2 ** 50, 0], chunks: [1, 1, 1] }).spec.shape).toEqual([2 ** 50, 2 ** 50, 0]);
});

test("only a chunk that has to be held whole is limited to 2 GiB", () => {
  const huge = { ...orbax, shape: [2 ** 20, 2 ** 20], chunks: [2 ** 20, 2 ** 20] };
  expect(parse(huge).transposed).toBe(false);
  expect(() => parse({ ...huge, order: "F" })).toThrow(UnsupportedCheckpointError);
});
