import { describe, expect, it } from "vitest";
import { type KeyPath, leafPath, paramName, pathLabel } from "./keyPath.js";

const path = (...keys: string[]): KeyPath => keys.map((key) => ({ key, kind: "mapping" }));

describe("key paths", () => {
  it("are joined with dots on disk and with slashes for people", () => {
    expect(paramName(path("a", "c.d", "0"))).toBe("a.c.d.0");
    expect(leafPath(path("a", "c.d", "0"))).toBe("a/c.d/0");
    expect(paramName([])).toBe("");
  });

  // Each right side is what Python 3.12 prints for str(tuple).
  it.each([
    [[], "()"],
    [["a"], "('a',)"],
    [["b", "0"], "('b', '0')"],
    [["it's"], '("it\'s",)'],
    [['it\'s "x"'], "('it\\'s \"x\"',)"],
    [['"'], "('\"',)"],
    [["a\n\t\r\\"], "('a\\n\\t\\r\\\\',)"],
    [["\u0000\u007f\u00a0\u00ad"], "('\\x00\\x7f\\xa0\\xad',)"],
    [["é\u2028😀\u{e0001}"], "('é\\u2028😀\\U000e0001',)"],
  ])("are labelled %j as %s", (keys, label) => {
    expect(pathLabel(path(...keys))).toBe(label);
  });
});
