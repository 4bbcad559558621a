import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonParser } from "./jsonParser.js";
import type { JsonValue } from "./jsonValue.js";
import { isPlainJson, longestPlain } from "./plainJson.js";

const numbers = ["0", "1", "-7", "-0", "-0.0", "1.0", "1e2", "1E400", "-1e-7", "9007199254740991", "9007199254740992", "0.5"];
const words = ["null", "true", "false", "NaN", "Infinity", "-Infinity"];
const strings = ['"a"', '"1.5"', '": 1.5"', '"-0"', '"\\u00fc\\n"', '"ü"', '"\\ud800"', '""', '"9007199254740993"'];
const keys = ['"a"', '"__proto__"', '"constructor"', '"1"', '"ü"', '"a"'];
const space = fc.constantFrom("", " ", "\n\t");

/** Texts of JSON as Python writes it, with all that JavaScript takes for something else. */
const texts = fc.letrec<{ value: string; list: string; object: string; scalar: string }>((tie) => ({
  value: fc.oneof({ depthSize: "small" }, tie("scalar"), tie("list"), tie("object")),
  scalar: fc.oneof(fc.constantFrom(...numbers), fc.constantFrom(...words), fc.constantFrom(...strings)),
  list: fc.tuple(fc.array(tie("value"), { maxLength: 4 }), space).map(([all, gap]) => `[${all.join(`,${gap}`)}${gap}]`),
  object: fc
    .tuple(fc.array(fc.tuple(fc.constantFrom(...keys), tie("value")), { maxLength: 4 }), space)
    .map(([all, gap]) => `{${all.map(([key, value]) => `${key}:${gap}${value}`).join(",")}${gap}}`),
})).value;

/** What the platform's parser makes of a text that is plain; undefined where it is not, or refused. */
function plain(text: string, floatsDiffer: boolean): JsonValue | undefined {
  if (!isPlainJson(new TextEncoder().encode(text), floatsDiffer)) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** What the tolerant parser makes of a text; undefined where it refuses it. */
function tolerant(text: string, floatsDiffer: boolean): JsonValue | undefined {
  try {
    return new JsonParser(text, "file.json", floatsDiffer).next(Number.POSITIVE_INFINITY);
  } catch {
    return undefined;
  }
}

function checkSame(text: string): void {
  for (const floatsDiffer of [false, true]) {
    const value = plain(text, floatsDiffer);
    if (value !== undefined) expect(value).toEqual(tolerant(text, floatsDiffer));
  }
}

describe("isPlainJson", () => {
  it("is true only where both parsers give the same", () => {
    fc.assert(fc.property(texts, checkSame), { numRuns: 2000 });
  });

  it("is no matter where both refuse: texts that were damaged", () => {
    const damaged = fc.tuple(texts, fc.nat(), fc.constantFrom("", ",", '"', "0", ".", "}", "\u0001")).map(([text, at, put]) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + put + text.slice(place + 1);
    });
    fc.assert(fc.property(damaged, checkSame), { numRuns: 2000 });
  });

  it("is true of what Orbax writes", () => {
    for (const text of ['{"a": {"b": [1, -2, null, true, "1.5"]}}', "[]", '"x"', "3"]) {
      expect(plain(text, true)).toEqual(tolerant(text, true));
    }
    expect(plain("[1.5]", false)).toEqual([1.5]);
  });

  it.each([
    ["a long float, which may be longer than is read", "[0.1234567890123456]", false],
    ["floats where they differ from integers", '{"a": 1.0}', true],
    ["integers beyond 2^53", "[9007199254740992]", false],
    ["a negative zero, which is Python's integer 0", "[-0]", false],
    ["words that only Python has", "[NaN]", false],
    ["more nesting than is read", `${"[".repeat(515)}${"]".repeat(515)}`, false],
    ["numbers longer than are read", `[0.${"0".repeat(5000)}1]`, false],
    ["texts that would take long", `["${"x".repeat(longestPlain)}"]`, false],
  ])("is false for %s", (_, text, floatsDiffer) => {
    expect(plain(text, floatsDiffer)).toBeUndefined();
  });
});
