import { expect, test } from "vitest";
import { isJsonObject, JsonFloat, setMember } from "./jsonValue.js";

test("only objects are objects", () => {
  expect(isJsonObject({})).toBe(true);
  for (const other of [null, undefined, [], 1, "x", new JsonFloat(1)]) expect(isJsonObject(other)).toBe(false);
});

test("a member named __proto__ is set like any other", () => {
  const target: Record<string, number> = {};
  setMember(target, "a", 1);
  setMember(target, "__proto__", 2);
  expect(Object.entries(target)).toEqual([
    ["a", 1],
    ["__proto__", 2],
  ]);
});
