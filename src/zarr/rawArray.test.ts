import { expect, test, vi } from "vitest";
import { CorruptCheckpointError } from "../errors.js";
import { openRawArray } from "./rawArray.js";
import { type RawDocument, rawV2Dtypes, rawV3Dtypes } from "./rawDocument.js";

const v2 = (shape: number[], itemsize: keyof typeof rawV2Dtypes, order: "C" | "F" = "F"): RawDocument => ({
  zarr_format: 2,
  shape,
  chunks: shape,
  dtype: rawV2Dtypes[itemsize],
  order,
  compressor: null,
  fill_value: null,
  filters: null,
  dimension_separator: ".",
});

test("zarrita reads shape and chunks of relabelled metadata", async () => {
  const array = await openRawArray(v2([2, 3], 16), "w/");
  expect(array.shape).toEqual([2, 3]);
  expect(array.chunkShape).toEqual([2, 3]);
});

test("Fortran order becomes C order, for elements of every size, in fresh memory", async () => {
  for (const itemsize of [1, 2, 4, 8, 16] as const) {
    const array = await openRawArray(v2([2, 3], itemsize), "w/");
    const stored = new Uint8Array(6 * itemsize + 1).subarray(1);
    for (let index = 0; index < stored.length; index++) stored[index] = index;
    const before = stored.slice();
    const expected = [0, 2, 4, 1, 3, 5].flatMap((element) => [...stored.subarray(element * itemsize, (element + 1) * itemsize)]);
    expect([...(await array.toRowMajor(stored))]).toEqual(expected);
    expect(stored).toEqual(before);
  }
});

test("any permutation of axes, at once for several chunks", async () => {
  const array = await openRawArray(
    {
      zarr_format: 3,
      node_type: "array",
      shape: [4, 2, 2],
      data_type: rawV3Dtypes[2],
      chunk_grid: { name: "regular", configuration: { chunk_shape: [2, 2, 2] } },
      chunk_key_encoding: { name: "default" },
      codecs: [
        { name: "transpose", configuration: { order: [1, 2, 0] } },
        { name: "bytes", configuration: { endian: "little" } },
      ],
      fill_value: 0,
    },
    "w/",
  );
  const chunks = [0, 100].map((first) => Uint16Array.from({ length: 8 }, (_, index) => first + index));
  const results = await Promise.all(chunks.map((chunk) => array.toRowMajor(new Uint8Array(chunk.buffer))));
  const ordered = results.map((bytes) => [...new Uint16Array(bytes.buffer)]);
  expect(ordered).toEqual([
    [0, 2, 4, 6, 1, 3, 5, 7],
    [100, 102, 104, 106, 101, 103, 105, 107],
  ]);
});

test("what zarrita refuses is damage, with its error as cause", async () => {
  const wrong = { ...v2([2], 1), dtype: "<x9" } as unknown as RawDocument;
  await expect(openRawArray(wrong, "w/")).rejects.toThrow(CorruptCheckpointError);
  await expect(openRawArray(wrong, "w/")).rejects.toHaveProperty("cause");
});

test("a zarrita that cannot be loaded, as where a host has replaced its files, is not taken for a damaged array", async () => {
  vi.doMock("zarrita", () => Promise.reject(new TypeError("Failed to fetch dynamically imported module")));
  try {
    const refused = await openRawArray(v2([2, 3], 4), "w/").catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Error);
    expect(refused).not.toBeInstanceOf(CorruptCheckpointError);
  } finally {
    vi.doUnmock("zarrita");
  }
});
