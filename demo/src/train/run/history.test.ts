import { expect, it } from "vitest";
import { emptyHistory, withLosses, withTest } from "./history.js";

const result = (step: number, loss = 0.1) => ({ step, loss, accuracy: 0.9 });

it("grows by losses and results, of which a newer one of the same step counts", () => {
  const grown = withTest(withTest(withLosses(withTest(emptyHistory(1200), result(1200)), [3, 2]), result(1202)), result(1202, 0.2));
  expect(grown).toEqual({ start: 1200, losses: [3, 2], tests: [result(1200), result(1202, 0.2)] });
});

it("remembers 2000 steps", () => {
  const long = withLosses(withTest(emptyHistory(0), result(0)), new Float32Array(1999).fill(1));
  expect(withLosses(long, [2, 3])).toMatchObject({ start: 1, tests: [] });
  expect(withLosses(long, [2, 3]).losses).toHaveLength(2000);
  expect(withLosses(long, [2, 3]).losses.at(-1)).toBe(3);
});
