import { expect, test } from "vitest";
import { CheckpointValueError } from "../../errors.js";
import { boxOf, type Region } from "./region.js";

test.each<[Region, number[], number[]]>([
  [[], [0, 0, 0], [4, 5, 6]],
  [[[1, 3]], [1, 0, 0], [2, 5, 6]],
  [
    [null, [2, 2], [0, 6]],
    [0, 2, 0],
    [4, 0, 6],
  ],
  [
    [[4, 4], null, [5, 6]],
    [4, 0, 5],
    [0, 5, 1],
  ],
])("%j of [4, 5, 6]", (region, start, shape) => {
  expect(boxOf(region, [4, 5, 6], "w")).toEqual({ start, shape });
});

test.each<[unknown, RegExp]>([
  [[null, null], /a region of 2 axes of an array of shape \[4\]/],
  [[[-1, 2]], /w: a region of \[-1,2\] along axis 0; it takes \[start, stop\] with 0 <= start <= stop <= 4/],
  [[[0, 5]], /stop <= 4/],
  [[[3, 2]], /along axis 0/],
  [[[0.5, 2]], /along axis 0/],
  [[[0]], /along axis 0/],
  [[2], /a region of 2 along axis 0/],
  [[["0", "2"]], /along axis 0/],
  [[[Number.NaN, Number.POSITIVE_INFINITY]], /a region of \["NaN","Infinity"\] along axis 0/],
  ["0:2", /a list with \[start, stop\] or null/],
])("%j of [4] is refused", (region, message) => {
  expect(() => boxOf(region as Region, [4], "w")).toThrow(CheckpointValueError);
  expect(() => boxOf(region as Region, [4], "w")).toThrow(message);
});

test("a scalar has one region", () => expect(boxOf([], [], "w")).toEqual({ start: [], shape: [] }));

test("refuses bounds that are bigints", () => {
  expect(() => boxOf([[0n, 2n]] as never, [4], "w")).toThrow(/a region of \["0n","2n"\] along axis 0/);
});
