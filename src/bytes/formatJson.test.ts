import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatFloat, formatJson } from "./formatJson.js";
import { JsonFloat, parseJson } from "./json.js";

describe("formatFloat", () => {
  // Each right side is what Python 3.12 prints for the left.
  it.each([
    [1, "1.0"],
    [-0, "-0.0"],
    [1e-7, "1e-07"],
    [0.0001, "0.0001"],
    [0.00001, "1e-05"],
    [1e15, "1000000000000000.0"],
    [1e16, "1e+16"],
    [1.5e300, "1.5e+300"],
    [5e-324, "5e-324"],
    [123456.789, "123456.789"],
    [0.1 + 0.2, "0.30000000000000004"],
    [2 ** 53, "9007199254740992.0"],
    [Number.NaN, "NaN"],
    [-Infinity, "-Infinity"],
  ])("prints %d as %s", (value, text) => {
    expect(formatFloat(value)).toBe(text);
  });

  it("prints what reads back as the same float", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(Object.is(Number(formatFloat(value)), value)).toBe(true);
        expect(formatFloat(value)).toMatch(/[.e]/);
      }),
    );
  });
});

describe("formatJson", () => {
  it("writes what Python's json.dumps writes", () => {
    const value = { "ü\u007f": [1, new JsonFloat(1), null, true, 'a\n"\\\u0001😀'], n: 18446744073709551615n, e: {}, l: [] };
    expect(formatJson(value)).toBe(
      '{"\\u00fc\\u007f": [1, 1.0, null, true, "a\\n\\"\\\\\\u0001\\ud83d\\ude00"], "n": 18446744073709551615, "e": {}, "l": []}',
    );
  });

  it("reads back as the same value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain = JSON.parse(JSON.stringify(value), (_, member) => (Object.is(member, -0) ? 0 : member));
        expect(parseJson(new TextEncoder().encode(formatJson(plain)), "f")).toEqual(plain);
      }),
    );
  });
});
