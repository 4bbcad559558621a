import { describe, expect, it } from "vitest";
import { median, summarise } from "./statistics.js";

describe("median", () => {
  it("is the middle one, whatever the order", () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([7])).toBe(7);
  });

  it("is the mean of the middle two of an even number", () => {
    expect(median([10, 1, 4, 2])).toBe(3);
  });

  it("of nothing is an error", () => {
    expect(() => median([])).toThrow(RangeError);
  });

  it("leaves its values as they are", () => {
    const values = [3, 1, 2];
    median(values);
    expect(values).toEqual([3, 1, 2]);
  });
});

describe("a summary", () => {
  it("has the spread beside the median", () => {
    expect(summarise([20, 10, 12])).toEqual({ median: 12, least: 10, most: 20, values: [20, 10, 12] });
  });
});
