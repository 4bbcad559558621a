import fc from "fast-check";
import { expect, test } from "vitest";
import { cropBlock } from "./cropBlock.js";
import { placeBlock } from "./place.js";
import { type Block, elementCount } from "./spec.js";

const axis = fc.record({
  length: fc.integer({ min: 1, max: 6 }),
  chunk: fc.integer({ min: 1, max: 6 }),
  shift: fc.integer({ min: -5, max: 6 }),
});

/** A block of a chunk that may reach over the array at both ends of any axis. */
const cases = fc.array(axis, { maxLength: 4 }).chain((axes) => {
  const shape = axes.map(({ chunk }) => chunk);
  const count = elementCount(shape);
  return fc.record({ from: fc.nat({ max: count }), length: fc.nat({ max: count }) }).map(({ from, length }) => ({
    arrayShape: axes.map((each) => each.length),
    block: {
      origin: axes.map(({ shift }) => shift),
      shape,
      elementOffset: from,
      data: Uint8Array.from({ length: 2 * Math.min(length, count - from) }, (_, byte) => byte + 1),
    } satisfies Block,
  }));
});

const placed = (arrayShape: readonly number[], block: Block | undefined): Uint8Array => {
  const bytes = new Uint8Array(2 * elementCount(arrayShape));
  if (block !== undefined) placeBlock(bytes, { shape: arrayShape, dtype: "uint16" }, block);
  return bytes;
};

test("what is left of a block goes where it went, and lies within the array", () => {
  fc.assert(
    fc.property(cases, ({ arrayShape, block }) => {
      const cropped = cropBlock(block, arrayShape, 2);
      expect(placed(arrayShape, cropped)).toEqual(placed(arrayShape, block));
      if (cropped === undefined || cropped === block) return;
      expect(cropped.origin.every((start, along) => start >= 0 && start + (cropped.shape[along] ?? 0) <= (arrayShape[along] ?? 0))).toBe(
        true,
      );
      expect(cropped.elementOffset * 2 + cropped.data.length).toBeLessThanOrEqual(2 * elementCount(cropped.shape));
    }),
    { numRuns: 2000 },
  );
});

test("a block within the array is itself, and rows one after the other are not copied", () => {
  const data = new Uint8Array(24);
  const block = { origin: [2, 0], shape: [4, 6], elementOffset: 0, data };
  expect(cropBlock(block, [6, 6], 1)).toBe(block);
  const rows = cropBlock({ ...block, origin: [-2, 0] }, [6, 6], 1);
  expect(rows).toMatchObject({ origin: [0, 0], shape: [2, 6], elementOffset: 0 });
  expect(rows?.data.buffer).toBe(data.buffer);
  expect(rows?.data.byteOffset).toBe(12);
});

test("of a block outside the array nothing is left", () => {
  const block = { origin: [-4], shape: [4], elementOffset: 0, data: new Uint8Array(4) };
  expect(cropBlock(block, [6], 1)).toBeUndefined();
  expect(cropBlock({ ...block, origin: [6] }, [6], 1)).toBeUndefined();
  expect(cropBlock({ ...block, origin: [-2], data: new Uint8Array(2) }, [6], 1)).toBeUndefined();
});
