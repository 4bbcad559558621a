import fc from "fast-check";
import { expect, test } from "vitest";
import { type ChunkGrid, chunkCount, chunksOf } from "./grid.js";

const keyOf = (indices: readonly number[]) => indices.join(".") || "0";
const gridOf = (shape: number[], chunkShape: number[]): ChunkGrid => ({ shape, chunkShape, keyOf });

test("chunks come in C order, the last ones over the edge", () => {
  expect([...chunksOf(gridOf([3, 4], [2, 4]))]).toEqual([
    { key: "0.0", origin: [0, 0] },
    { key: "1.0", origin: [2, 0] },
  ]);
});

test("a scalar has one chunk, an array without elements none", () => {
  expect([...chunksOf(gridOf([], []))]).toEqual([{ key: "0", origin: [] }]);
  expect([...chunksOf(gridOf([3, 0], [1, 1]))]).toEqual([]);
  expect(chunkCount(gridOf([], []))).toBe(1);
  expect(chunkCount(gridOf([3, 0], [1, 1]))).toBe(0);
});

test("chunks cover every element once", () => {
  const axis = fc.record({ length: fc.integer({ min: 0, max: 6 }), chunk: fc.integer({ min: 1, max: 8 }) });
  fc.assert(
    fc.property(fc.array(axis, { maxLength: 4 }), (axes) => {
      const grid = gridOf(
        axes.map(({ length }) => length),
        axes.map(({ chunk }) => chunk),
      );
      const chunks = [...chunksOf(grid)];
      expect(chunks.length).toBe(chunkCount(grid));
      expect(new Set(chunks.map(({ key }) => key)).size).toBe(chunks.length);
      const inside = chunks.map(({ origin }) =>
        origin.reduce((count, start, index) => count * Math.min(grid.chunkShape[index] ?? 0, (grid.shape[index] ?? 0) - start), 1),
      );
      expect(inside.reduce((sum, count) => sum + count, 0)).toBe(grid.shape.reduce((count, length) => count * length, 1));
    }),
  );
});

test("a grid with more chunks than memory is walked one by one", () => {
  const [first, second] = chunksOf(gridOf([2 ** 50], [1]));
  expect([first, second]).toEqual([
    { key: "0", origin: [0] },
    { key: "1", origin: [1] },
  ]);
});

test("a box is touched by just the chunks that share an element with it", () => {
  const axis = fc.record({ length: fc.integer({ min: 1, max: 9 }), chunk: fc.integer({ min: 1, max: 5 }), from: fc.nat(8), to: fc.nat(9) });
  fc.assert(
    fc.property(fc.array(axis, { maxLength: 3 }), (axes) => {
      const grid = gridOf(
        axes.map(({ length }) => length),
        axes.map(({ chunk }) => chunk),
      );
      const bounds = axes.map(({ length, from, to }) => [Math.min(from, to, length), Math.min(Math.max(from, to), length)] as const);
      const box = { start: bounds.map(([start]) => start), shape: bounds.map(([start, stop]) => stop - start) };
      const touches = (start: number, length: number, [from, to]: readonly [number, number]) =>
        from < to && start < to && start + length > from;
      const expected = [...chunksOf(grid)].filter(({ origin }) =>
        origin.every((start, along) => touches(start, grid.chunkShape[along] ?? 1, bounds[along] ?? [0, 0])),
      );
      expect([...chunksOf(grid, box)]).toEqual(expected);
      expect(chunkCount(grid, box)).toBe(expected.length);
    }),
  );
});
