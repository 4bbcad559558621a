import { describe, expect, it } from "vitest";
import { formatSortedJson } from "./formatSortedJson.js";

const of = (...members: (readonly [string, null])[]) => formatSortedJson(new Map(members));

describe("formatSortedJson", () => {
  it("is compact, whatever is nested", () => {
    const value = new Map<string, Parameters<typeof formatSortedJson>[0]>([
      ["shape", [2, 0]],
      ["codec", new Map([["id", "zstd"]])],
      ["none", null],
      ["yes", true],
      ["empty", new Map()],
    ]);
    expect(formatSortedJson(value)).toBe('{"codec":{"id":"zstd"},"empty":{},"none":null,"shape":[2,0],"yes":true}');
  });

  it("sorts members by the bytes of their names, numbers and prototypes' names too", () => {
    const names = ["2", "10", "\uffff", "\u{1f389}", "a", "", "__proto__", "B", "é"];
    const expected = ["", "10", "2", "B", "__proto__", "a", "é", "\uffff", "\u{1f389}"];
    const members = names.map((name) => [name, null] as const);
    expect(of(...members)).toBe(`{${expected.map((name) => `${JSON.stringify(name)}:null`).join(",")}}`);
  });

  it("escapes what TensorStore escapes and nothing else", () => {
    // What TensorStore 0.1.86 wrote for this text.
    expect(formatSortedJson('\u007f\u2028é\u001f"\\/\b\t\n\f\r\u0000')).toBe('"\u007f\u2028é\\u001f\\"\\\\/\\b\\t\\n\\f\\r\\u0000"');
  });

  it("takes integers only", () => {
    expect(formatSortedJson([-1, -0, 2 ** 53 - 1])).toBe("[-1,0,9007199254740991]");
    for (const value of [0.5, 2 ** 53, Number.NaN]) expect(() => formatSortedJson(value)).toThrow(RangeError);
  });
});
