import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { segmentsOf } from "../arrays/segments.js";
import { elementCount } from "../arrays/spec.js";
import { chunkRowsOf } from "./chunkRows.js";

describe("chunkRowsOf", () => {
  it.each([
    { array: [], chunk: [], rows: { shortestRow: 4, rowCount: 1, rowsPerChunk: 1, aligned: true } },
    { array: [100, 50], chunk: [25, 50], rows: { shortestRow: 5000, rowCount: 4, rowsPerChunk: 1, aligned: true } },
    { array: [100, 50], chunk: [100, 20], rows: { shortestRow: 40, rowCount: 300, rowsPerChunk: 100, aligned: true } },
    { array: [6, 5, 4], chunk: [6, 2, 9], rows: { shortestRow: 16, rowCount: 30, rowsPerChunk: 12, aligned: true } },
    { array: [6, 5, 4], chunk: [1, 2, 1], rows: { shortestRow: 4, rowCount: 120, rowsPerChunk: 2, aligned: true } },
  ])("of $array in $chunk", ({ array, chunk, rows }) => {
    expect(chunkRowsOf(array, chunk, 4)).toEqual(rows);
  });

  it("says where rows begin inside a word", () => {
    expect(chunkRowsOf([8, 6], [8, 2], 2).aligned).toBe(true);
    expect(chunkRowsOf([8, 6], [8, 3], 2).aligned).toBe(false);
    expect(chunkRowsOf([8, 5], [8, 4], 1).aligned).toBe(false);
  });

  it("never promises longer or fewer rows than there are", () => {
    const axes = fc.array(fc.record({ array: fc.integer({ min: 1, max: 5 }), chunk: fc.integer({ min: 1, max: 6 }) }), { maxLength: 4 });
    fc.assert(
      fc.property(axes, (lengths) => {
        const array = lengths.map((each) => each.array);
        const shape = lengths.map((each) => each.chunk);
        const rows = chunkRowsOf(array, shape, 1);
        const chunks = originsOf(array, shape).map((origin) => {
          const block = { origin, shape, elementOffset: 0, data: new Uint8Array(elementCount(shape)) };
          return [...segmentsOf(array, block, 1)];
        });
        expect(Math.max(...chunks.map((segments) => segments.length))).toBeLessThanOrEqual(rows.rowsPerChunk);
        expect(chunks.flat().length).toBeLessThanOrEqual(rows.rowCount);
        for (const { byteLength } of chunks.flat()) expect(byteLength).toBeGreaterThanOrEqual(rows.shortestRow);
      }),
    );
  });
});

function originsOf(array: readonly number[], chunk: readonly number[]): number[][] {
  return array.reduce<number[][]>(
    (origins, length, axis) => {
      const step = chunk[axis] ?? 1;
      return origins.flatMap((origin) => Array.from({ length: Math.ceil(length / step) }, (_, index) => [...origin, index * step]));
    },
    [[]],
  );
}
