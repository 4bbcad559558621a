import fc from "fast-check";
import { expect, test } from "vitest";
import { compareText } from "./compareText.js";

test("orders texts as their UTF-8", () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom("a", "b", "é", "\uffff", "\ue000", "\u{10000}", "\u{1f389}"),
      fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    ),
  });
  fc.assert(
    fc.property(text, text, (first, second) => {
      expect(Math.sign(compareText(first, second))).toBe(Buffer.compare(Buffer.from(first), Buffer.from(second)));
    }),
    { numRuns: 1000 },
  );
  expect(["2", "10", "\u{10000}", "\uffff", ""].sort(compareText)).toEqual(["", "10", "2", "\uffff", "\u{10000}"]);
});
