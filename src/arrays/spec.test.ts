import { expect, test } from "vitest";
import { elementCount } from "./spec.js";

test("a scalar has one element, an axis of length zero none", () => {
  expect(elementCount([])).toBe(1);
  expect(elementCount([3, 4])).toBe(12);
  expect(elementCount([3, 0, 4])).toBe(0);
});
