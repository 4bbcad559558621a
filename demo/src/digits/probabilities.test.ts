import { expect, it } from "vitest";
import { indexOfLargest, probabilities } from "./probabilities.js";

it("turns logits into probabilities, large ones too", () => {
  expect(probabilities(Float32Array.of(0, 0, Math.log(2)))).toEqual([0.25, 0.25, 0.5].map((share) => expect.closeTo(share, 6)));
  expect(probabilities(Float32Array.of(1000, 0))).toEqual([1, 0]);
});

it("takes the first of equals", () => {
  expect(indexOfLargest([1, 3, 3, 2])).toBe(1);
});
