import fc from "fast-check";
import { expect, test } from "vitest";
import { JsonParser } from "./jsonParser.js";

const parserOf = (text: string) => new JsonParser(text, "file.json", false);

test("gives the same value however many values it may read at a time", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), fc.integer({ min: 1, max: 5 }), (value, count) => {
      const text = JSON.stringify(value);
      const parser = parserOf(text);
      let turns = 1;
      let read = parser.next(count);
      for (; read === undefined; turns++) read = parser.next(count);
      expect(read).toEqual(parserOf(text).next(Number.POSITIVE_INFINITY));
      expect(turns).toBe(Math.max(1, Math.ceil(countValues(value) / count)));
    }),
  );
});

const countValues = (value: unknown): number =>
  typeof value === "object" && value !== null ? 1 + Object.values(value).reduce((sum: number, child) => sum + countValues(child), 0) : 1;

test("fails where the text is wrong, not before", () => {
  const parser = parserOf("[1, 2, x]");
  expect(parser.next(3)).toBeUndefined();
  expect(() => parser.next(1)).toThrow("at byte 7: expected a JSON value");
});
