import fc from "fast-check";
import { expect, test } from "vitest";
import { boxRuns } from "./boxRuns.js";
import { type Box, elementCount } from "./spec.js";

const axis = fc.record({ length: fc.integer({ min: 1, max: 6 }), from: fc.nat({ max: 5 }), to: fc.nat({ max: 5 }) });

/** An array, and a box of it that is not empty. */
const cases = fc.array(axis, { maxLength: 4 }).map((axes): { shape: number[]; box: Box } => {
  const bounds = axes.map(({ length, from, to }) => [Math.min(from, to, length - 1), Math.min(Math.max(from, to) + 1, length)] as const);
  return {
    shape: axes.map(({ length }) => length),
    box: { start: bounds.map(([start]) => start), shape: bounds.map(([start, stop]) => stop - start) },
  };
});

/** The elements of a box by their index in C order. */
function elementsOf(shape: readonly number[], { start, shape: lengths }: Box): number[] {
  return Array.from({ length: elementCount(shape) }, (_, index) => index).filter((index) => {
    let rest = index;
    return [...shape].reverse().every((length, back) => {
      const axis = shape.length - 1 - back;
      const at = (rest % length) - (start[axis] ?? 0);
      rest = Math.floor(rest / length);
      return at >= 0 && at < (lengths[axis] ?? 1);
    });
  });
}

test("runs hold every element of the box, begin and end with one, and are parted by more than the gap", () => {
  fc.assert(
    fc.property(cases, fc.nat({ max: 8 }), ({ shape, box }, largestGap) => {
      const runs = [...boxRuns(shape, box, largestGap)];
      const elements = elementsOf(shape, box);
      const expected: { start: number; end: number }[] = [];
      for (const element of elements) {
        const last = expected.at(-1);
        if (last !== undefined && element - last.end <= largestGap) last.end = element + 1;
        else expected.push({ start: element, end: element + 1 });
      }
      expect(runs).toEqual(expected);
    }),
    { numRuns: 2000 },
  );
});

test("a column of a huge array is cut into no more runs than its gaps", () => {
  const runs = boxRuns([2 ** 30, 64], { start: [0, 3], shape: [2 ** 30, 1] }, 100);
  expect([...runs]).toEqual([{ start: 3, end: (2 ** 30 - 1) * 64 + 4 }]);
});
