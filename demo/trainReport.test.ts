import { expect, it } from "vitest";
import { compareCurves } from "./trainReport.mjs";

it("prints both curves, and says that they agree", () => {
  expect(compareCurves({ start: 1250, uninterrupted: [0.25, 0.125], resumed: [0.25, 0.125] })).toEqual({
    agree: true,
    text: `\
 step  uninterrupted        resumed
 1251    0.250000000    0.250000000
 1252    0.125000000    0.125000000

the losses agree: the same bits in all 2 steps`,
  });
});

it("says where a bit differs or a loss is missing, and takes no curve for agreement", () => {
  const { agree, text } = compareCurves({ start: 9, uninterrupted: [0.25, 0.1, 0.5], resumed: [0.25, 0.1 + 1e-17, 0.4999999999] });
  expect(agree).toBe(false);
  expect(text).toContain("   12    0.500000000    0.500000000  not the same");
  expect(text).toContain("the losses do not agree: the same bits in 1 of 3 steps");
  expect(compareCurves({ start: 0, uninterrupted: [0.5, 0.25], resumed: [0.5] })).toMatchObject({ agree: false });
  expect(compareCurves({ start: 0, uninterrupted: [], resumed: [] })).toMatchObject({ agree: false });
});
