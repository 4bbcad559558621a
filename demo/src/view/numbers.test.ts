import { expect, it } from "vitest";
import { brief, grouped, percent } from "./numbers.js";

it("writes numbers as the page shows them", () => {
  expect(grouped(1234567)).toBe("1,234,567");
  expect([0, 0.5, 0.9994, 0.9999, 1].map((share) => percent(share))).toEqual(["0.0%", "50.0%", "99.9%", ">99.9%", "100.0%"]);
  expect(percent(0.999, 0)).toBe(">99%");
  expect([3672165073, 0.123456, "9007199254740993", Number.NaN].map(brief)).toEqual(["3672165073", "0.1235", "9007199254740993", "NaN"]);
});
