import { describe, expect, it } from "vitest";
import { scatterAxesOf } from "./scatterAxes.js";

const block = (origin: number[], shape: number[], elementOffset: number, byteLength: number) => ({
  origin,
  shape,
  elementOffset,
  data: new Uint8Array(byteLength),
});

describe("scatterAxesOf", () => {
  it("folds axes that chunks cover and measures the last one in words", () => {
    expect(scatterAxesOf([10, 8, 3], block([0, 4, 0], [10, 2, 3], 6, 24), 4)).toEqual({
      unit: 4,
      axes: [
        { chunk: 10, array: 10, origin: 0, start: 1 },
        { chunk: 6, array: 24, origin: 12, start: 0 },
      ],
    });
  });

  it("folds a chunk that is a run of the array into one axis", () => {
    expect(scatterAxesOf([10, 3], block([5, 0], [5, 3], 0, 30), 2)).toEqual({
      unit: 2,
      axes: [{ chunk: 15, array: 30, origin: 15, start: 0 }],
    });
  });

  it("does not fold axes along which chunks reach over the edge", () => {
    expect(scatterAxesOf([4, 3], block([0, 0], [4, 5], 7, 4), 1)).toEqual({
      unit: 1,
      axes: [
        { chunk: 4, array: 4, origin: 0, start: 1 },
        { chunk: 5, array: 3, origin: 0, start: 2 },
      ],
    });
  });

  it.each([
    { byteLength: 8, elementOffset: 4, unit: 4 },
    { byteLength: 6, elementOffset: 4, unit: 2 },
    { byteLength: 8, elementOffset: 3, unit: 1 },
  ])("takes units of $unit for $byteLength bytes at element $elementOffset", ({ byteLength, elementOffset, unit }) => {
    expect(scatterAxesOf([2, 16], block([0, 4], [2, 4], elementOffset, byteLength), 1).unit).toBe(unit);
  });

  it("knows scalars", () => {
    expect(scatterAxesOf([], block([], [], 0, 8), 8)).toEqual({ unit: 4, axes: [{ chunk: 2, array: 2, origin: 0, start: 0 }] });
  });
});
