import { expect, it } from "vitest";
import { withNewStroke, withPoint } from "./strokes.js";

it("draws strokes point by point, inside the pad", () => {
  const begun = withNewStroke([[[0.1, 0.1]]], [0.5, -1]);
  expect(begun).toEqual([[[0.1, 0.1]], [[0.5, 0]]]);
  expect(withPoint(begun, [2, 0.5])).toEqual([
    [[0.1, 0.1]],
    [
      [0.5, 0],
      [1, 0.5],
    ],
  ]);
});

it("leaves a drawing alone that nothing was begun in, or where the pen has hardly moved", () => {
  const begun = withNewStroke([], [0.5, 0.5]);
  expect(withPoint([], [0.5, 0.5])).toEqual([]);
  expect(withPoint(begun, [0.501, 0.5])).toBe(begun);
});
