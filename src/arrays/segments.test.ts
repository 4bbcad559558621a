import fc from "fast-check";
import { expect, test } from "vitest";
import { segmentsOf } from "./segments.js";
import { type Block, elementCount } from "./spec.js";

interface Case {
  arrayShape: number[];
  block: Block;
  itemsize: number;
}

/** Arrays of up to five axes with chunks that may cover, tile or overhang them, at their beginning too, and a run of elements of one chunk. */
const cases: fc.Arbitrary<Case> = fc
  .array(
    fc.record({
      length: fc.integer({ min: 0, max: 5 }),
      chunk: fc.integer({ min: 1, max: 6 }),
      index: fc.nat({ max: 3 }),
      before: fc.nat({ max: 3 }),
      whole: fc.boolean(),
    }),
    { maxLength: 5 },
  )
  .chain((drawn) => {
    const axes = drawn.map(({ length, chunk, index, before, whole }) =>
      whole && length > 0 ? { length, chunk: length, start: 0 } : { length, chunk, start: chunk * index - before },
    );
    const shape = axes.map(({ chunk }) => chunk);
    const count = elementCount(shape);
    return fc.record({ itemsize: fc.constantFrom(1, 2, 8, 16), from: fc.nat({ max: count }), length: fc.nat({ max: count }) }).map(
      ({ itemsize, from, length }): Case => ({
        arrayShape: axes.map((axis) => axis.length),
        itemsize,
        block: {
          origin: axes.map(({ start }) => start),
          shape,
          elementOffset: from,
          data: new Uint8Array(Math.min(length, count - from) * itemsize),
        },
      }),
    );
  });

/** Where each element of a block goes, one by one; `undefined` outside the array. */
function targetsOf({ arrayShape, block, itemsize }: Case): (number | undefined)[] {
  return Array.from({ length: block.data.byteLength / itemsize }, (_, index) => {
    let rest = block.elementOffset + index;
    const within: number[] = [];
    for (const length of [...block.shape].reverse()) {
      within.unshift(rest % length);
      rest = Math.floor(rest / length);
    }
    const position = within.map((offset, axis) => offset + (block.origin[axis] ?? 0));
    if (position.some((at, axis) => at < 0 || at >= (arrayShape[axis] ?? 0))) return undefined;
    return position.reduce((sum, at, axis) => sum * (arrayShape[axis] ?? 1) + at, 0);
  });
}

test("segments move every element to where a per-element model puts it, and no other", () => {
  fc.assert(
    fc.property(cases, (given) => {
      const moved = new Map<number, number>();
      for (const { sourceOffset, targetOffset, byteLength } of segmentsOf(given.arrayShape, given.block, given.itemsize)) {
        expect([sourceOffset, targetOffset, byteLength].every((bytes) => bytes % given.itemsize === 0)).toBe(true);
        for (let byte = 0; byte < byteLength; byte += given.itemsize) {
          moved.set((sourceOffset + byte) / given.itemsize, (targetOffset + byte) / given.itemsize);
        }
      }
      const expected = targetsOf(given).flatMap((target, index) => (target === undefined ? [] : [[index, target] as const]));
      expect([...moved]).toEqual(expected);
    }),
    { numRuns: 3000 },
  );
});

test("segments are as long as they can be: no two of them touch on both sides", () => {
  fc.assert(
    fc.property(cases, ({ arrayShape, block, itemsize }) => {
      const segments = [...segmentsOf(arrayShape, block, itemsize)];
      for (const [index, next] of segments.entries()) {
        const { sourceOffset, targetOffset, byteLength } = segments[index - 1] ?? { sourceOffset: -1, targetOffset: -1, byteLength: 0 };
        const touches = sourceOffset + byteLength === next.sourceOffset && targetOffset + byteLength === next.targetOffset;
        expect(touches).toBe(false);
      }
    }),
    { numRuns: 3000 },
  );
});

test("a chunk that is the whole array is one segment, whatever its rank", () => {
  for (const shape of [[], [7], [3, 4, 5], [1, 1, 2, 1]]) {
    const data = new Uint8Array(elementCount(shape) * 4);
    const block = { origin: shape.map(() => 0), shape, elementOffset: 0, data };
    expect([...segmentsOf(shape, block, 4)]).toEqual([{ sourceOffset: 0, targetOffset: 0, byteLength: data.byteLength }]);
  }
});

test("a band of whole rows is one segment, also when it begins in the middle of a row", () => {
  const block = { origin: [4, 0, 0], shape: [2, 3, 5], elementOffset: 7, data: new Uint8Array(11) };
  expect([...segmentsOf([8, 3, 5], block, 1)]).toEqual([{ sourceOffset: 0, targetOffset: 67, byteLength: 11 }]);
});

test("huge arrays cost nothing until their segments are asked for", () => {
  const shape = [2 ** 20, 2 ** 20];
  const block = { origin: [2 ** 19, 2 ** 19], shape: [2 ** 10, 1], elementOffset: 5, data: new Uint8Array(8) };
  expect(segmentsOf(shape, block, 4).next().value).toEqual({
    sourceOffset: 0,
    targetOffset: ((2 ** 19 + 5) * 2 ** 20 + 2 ** 19) * 4,
    byteLength: 4,
  });
});

test("elements past the chunk's end go nowhere", () => {
  const block = { origin: [0], shape: [3], elementOffset: 2, data: new Uint8Array(4) };
  expect([...segmentsOf([8], block, 1)]).toEqual([{ sourceOffset: 0, targetOffset: 2, byteLength: 1 }]);
});
