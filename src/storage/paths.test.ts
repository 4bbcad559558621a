import { expect, test } from "vitest";
import { requirePath, requirePrefix, requireRange } from "./paths.js";

test("takes paths with any other characters", () => {
  for (const path of ["a", "a/b", "...", ".a/..b", "a b/#?%", "a\\b", "漢"]) {
    expect(() => requirePath(path)).not.toThrow();
    expect(() => requirePrefix(`${path}/`)).not.toThrow();
  }
  expect(() => requirePrefix("")).not.toThrow();
});

test("refuses what leaves a storage or has two spellings, and names it", () => {
  for (const path of ["", "/", "/a", "a/", "a//b", ".", "a/./b", "..", "a/../b", "a\0"]) {
    expect(() => requirePath(path)).toThrow(JSON.stringify(path));
  }
  expect(() => requirePrefix("a")).toThrow(/ends with/);
  expect(() => requirePrefix("a//")).toThrow(/not a path/);
});

test("refuses ranges that are none", () => {
  expect(() => requireRange({ offset: 0, length: 0 })).not.toThrow();
  expect(() => requireRange({ offset: -1, length: 1 })).toThrow("not offset -1 and length 1");
  expect(() => requireRange({ offset: 2 ** 53 - 2, length: 2 })).toThrow(/2\^53/);
});
