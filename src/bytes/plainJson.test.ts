import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonParser } from "./jsonParser.js";
import type { JsonValue } from "./jsonValue.js";
import { longestPlain, parsePlainJson } from "./plainJson.js";

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
    const plain = parsePlainJson(text, floatsDiffer);
    if (plain !== undefined) expect(plain).toEqual(tolerant(text, floatsDiffer));
  }
}

describe("parsePlainJson", () => {
  it("gives what the tolerant parser gives, or nothing", () => {
    fc.assert(fc.property(texts, checkSame), { numRuns: 2000 });
  });

  it("refuses what the tolerant parser refuses: texts that were damaged", () => {
    const damaged = fc.tuple(texts, fc.nat(), fc.constantFrom("", ",", '"', "0", ".", "}", "\u0001")).map(([text, at, put]) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + put + text.slice(place + 1);
    });
    fc.assert(fc.property(damaged, checkSame), { numRuns: 2000 });
  });

  it("takes what Orbax writes", () => {
    for (const text of ['{"a": {"b": [1, -2, null, true, "1.5"]}}', "[]", '"x"', "3"]) {
      expect(parsePlainJson(text, true)).toEqual(tolerant(text, true));
    }
    expect(parsePlainJson("[1.5]", false)).toEqual([1.5]);
  });

  it.each([
    ["floats where they differ from integers", '{"a": 1.0}', true],
    ["integers beyond 2^53", "[9007199254740992]", false],
    ["a negative zero, which is Python's integer 0", "[-0]", false],
    ["words that only Python has", "[NaN]", false],
    ["more nesting than is read", `${"[".repeat(515)}${"]".repeat(515)}`, false],
    ["numbers longer than are read", `[0.${"0".repeat(5000)}1]`, false],
    ["texts that would take long", `["${"x".repeat(longestPlain)}"]`, false],
  ])("leaves %s to it", (_, text, floatsDiffer) => {
    expect(parsePlainJson(text, floatsDiffer)).toBeUndefined();
  });
});
