import { readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Dtype, dtypes, isSavable } from "../arrays/dtypes.js";
import { placeBlock } from "../arrays/place.js";
import { elementCount } from "../arrays/spec.js";
import { openOcdbt } from "../ocdbt/open.js";
import { memoryStorage } from "../storage/memory.js";
import { nodeStorage } from "../storage/node.js";
import { encodeArray } from "./encodeArray.js";
import { openZarrArray } from "./openArray.js";
import { parseZarray } from "./zarray.js";

const fixtures = join(import.meta.dirname, "../../e2e/fixtures/data");

/** Folders of items that Orbax wrote as zarr v2 into a database. */
const items = readdirSync(fixtures, { recursive: true, encoding: "utf8" })
  .filter((path) => /checkpoints.*[\\/]manifest\.ocdbt$/.test(path) && !/ocdbt\.process|records|zarr-variants|zero-size/.test(path))
  .map((path) => join(path, ".."));

describe(".zarray", () => {
  test("is what TensorStore wrote for Orbax, byte for byte, in all fixtures", async () => {
    let checked = 0;
    const seen = new Set<Dtype>();
    for (const item of items) {
      const database = await openOcdbt(nodeStorage(join(fixtures, item)));
      for await (const key of database?.keys("") ?? []) {
        if (!key.endsWith(".zarray")) continue;
        const stored = (await database?.read(key)) ?? new Uint8Array();
        const { spec, grid, compression } = parseZarray(stored, key);
        // A name that ends with a slash has no other one behind it.
        const name = key.slice(0, -".zarray".length).replace(/(?<=[^/]|^)\/$/, "");
        const encoded = encodeArray(name, spec, { compression: compression[0] === "zstd" ? "zstd" : "none" });
        if (encoded.chunkShape.join() !== grid.chunkShape.join()) continue;
        expect(encoded.metadata).toEqual({ key, text: new TextDecoder().decode(stored) });
        seen.add(spec.dtype);
        checked++;
      }
    }
    expect(checked).toBeGreaterThan(1000);
    expect([...seen].sort()).toEqual((Object.keys(dtypes) as Dtype[]).filter(isSavable).sort());
  });

  test("of a bare scalar has no name and no lengths, and of nothing a chunk of 1", () => {
    const scalar = encodeArray("", { shape: [], dtype: "int64" });
    expect(scalar.metadata).toEqual({
      key: ".zarray",
      text: '{"chunks":[],"compressor":null,"dimension_separator":".","dtype":"<i8","fill_value":null,"filters":null,"order":"C","shape":[],"zarr_format":2}',
    });
    expect([...scalar.chunks()]).toEqual([{ key: "0", range: { offset: 0, length: 8 }, paddingBytes: 0 }]);
    const empty = encodeArray("w", { shape: [0, 3], dtype: "int8" });
    expect(empty).toMatchObject({ chunkShape: [1, 3], chunkCount: 0 });
    expect([...empty.chunks()]).toEqual([]);
  });
});

const mebibyte = 1024 * 1024;

describe("chunks", () => {
  test.each<[shape: number[], dtype: Dtype, chunkShape: number[], chunkCount: number]>([
    [[4096, 1024], "float32", [4096, 1024], 1],
    [[4097, 1024], "float32", [2049, 1024], 2],
    [[8192, 1024], "float32", [4096, 1024], 2],
    [[50304, 768], "float32", [4192, 768], 12],
    [[50257, 768], "float32", [5026, 768], 10],
    [[17, mebibyte], "int8", [9, mebibyte], 2],
    [[1000, 9, 1_000_000], "float32", [1, 3, 1_000_000], 3000],
    [[3, 5, 40 * mebibyte], "bfloat16", [1, 1, 8 * mebibyte], 75],
    [[2, 2 ** 25], "complex128", [1, mebibyte], 64],
    [[2 ** 31], "uint8", [16 * mebibyte], 128],
    [[1, 1, 2 ** 26], "float32", [1, 1, 4 * mebibyte], 16],
  ])("of %j %s are %j", (shape, dtype, chunkShape, chunkCount) => {
    const encoded = encodeArray("w", { shape, dtype });
    expect(encoded).toMatchObject({ chunkShape, chunkCount });
    expect(encoded.chunkByteLength).toBeLessThanOrEqual(16 * mebibyte);
  });

  test("are runs of the array, one behind the other, that restore it", async () => {
    const arrays = fc.record({
      shape: fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 4 }),
      dtype: fc.constantFrom<Dtype>("int8", "bfloat16", "float32", "complex128"),
      longestChunk: fc.integer({ min: 16, max: 600 }),
    });
    await fc.assert(
      fc.asyncProperty(arrays, async ({ shape, dtype, longestChunk }) => {
        const spec = { shape, dtype };
        const whole = Uint8Array.from({ length: elementCount(shape) * dtypes[dtype].itemsize }, (_, index) => index * 7 + 1);
        const encoded = encodeArray("w", spec, { longestChunk });
        expect(encoded.chunkByteLength).toBeLessThanOrEqual(longestChunk);
        const files = new Map([[encoded.metadata.key, new TextEncoder().encode(encoded.metadata.text)]]);
        let end = 0;
        for (const { key, range, paddingBytes } of encoded.chunks()) {
          expect(range.offset).toBe(end);
          end += range.length;
          const chunk = new Uint8Array(encoded.chunkByteLength);
          chunk.set(whole.subarray(range.offset, end));
          expect(range.length + paddingBytes).toBe(chunk.length);
          files.set(key, chunk);
        }
        expect(end).toBe(whole.length);
        const array = await openZarrArray(memoryStorage(files), "w");
        expect(array).toMatchObject({ spec, chunkShape: encoded.chunkShape, chunkCount: files.size - 1, codec: "none" });
        const restored = new Uint8Array(whole.length);
        for (const { key, origin } of array?.chunks() ?? []) {
          placeBlock(restored, spec, { origin, shape: encoded.chunkShape, elementOffset: 0, data: files.get(key) ?? new Uint8Array() });
        }
        expect(restored).toEqual(whole);
      }),
    );
  });

  test("waste little on padding, also of lengths that nothing divides", () => {
    const lengths = fc.integer({ min: 1, max: 5000 }).chain((rows) => fc.tuple(fc.constant(rows), fc.integer({ min: 1, max: rows })));
    fc.assert(
      fc.property(lengths, ([rows, most]) => {
        const { chunkShape, chunkCount } = encodeArray("w", { shape: [rows], dtype: "int8" }, { longestChunk: most });
        expect((chunkCount * (chunkShape[0] ?? 0)) / rows).toBeLessThanOrEqual(1.3);
        expect(chunkCount).toBeLessThanOrEqual(1.5 * Math.ceil(rows / most));
      }),
      { numRuns: 1000 },
    );
    expect(encodeArray("w", { shape: [2 ** 31 - 1], dtype: "int8" }, { longestChunk: 2 }).chunkCount).toBe(2 ** 30);
  });
});
