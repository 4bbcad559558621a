import { describe, expect, it } from "vitest";
import { CorruptCheckpointError } from "../errors.js";
import type { JsonValue } from "./json.js";
import { JsonMember } from "./jsonMember.js";

const memberOf = (value: JsonValue | undefined) => new JsonMember("file.json", "the file", value);

const failure = (work: () => unknown): CorruptCheckpointError => {
  try {
    work();
  } catch (error) {
    if (error instanceof CorruptCheckpointError) return error;
    throw error;
  }
  throw new Error("no error");
};

describe("JsonMember", () => {
  it("gives values of the type asked for, and knows where it stands", () => {
    const member = memberOf({ a: { b: [1, "x", true] }, n: null });
    const [number, text, boolean] = member.member("a").member("b").list();
    expect([number?.integer(), text?.string(), boolean?.boolean()]).toEqual([1, "x", true]);
    expect(member.optional("n")).toBeUndefined();
    expect(member.optional("toString")).toBeUndefined();
    expect(failure(() => member.member("a").member("c").string())).toMatchObject({
      path: "file.json",
      expected: "a string at the file, a, c",
      received: "nothing",
    });
  });

  it("gives members by name and lists of integers, with the same errors", () => {
    const member = memberOf({ s: "x", b: false, i: 3, list: [1, 2], mixed: [1, "x"] });
    expect([member.stringAt("s"), member.booleanAt("b"), member.integerAt("i")]).toEqual(["x", false, 3]);
    const list = member.member("list").integers();
    expect(list).toEqual([1, 2]);
    list.push(3);
    expect(member.member("list").integers()).toEqual([1, 2]);
    expect(failure(() => member.stringAt("i"))).toMatchObject({ expected: "a string at the file, i", received: "3" });
    expect(failure(() => member.booleanAt("toString"))).toMatchObject({ received: "nothing" });
    expect(failure(() => member.integerAt("s"))).toMatchObject({ expected: "an integer at the file, s" });
    expect(failure(() => member.member("mixed").integers())).toMatchObject({ expected: "an integer at the file, mixed, 1" });
    expect(failure(() => member.member("s").integers())).toMatchObject({ expected: "a list at the file, s" });
  });

  it.each([
    [[1, [2.5, null]], "[1, [2.5, null]]"],
    [{ a: "ü" }, '{"a": "\\u00fc"}'],
    [{ a: { b: { c: { d: { e: 1 } } } } }, '{"a": {"b": {"c": {}}}}'],
  ] as const)("says what %j is, shortened", (value, received) => {
    expect(failure(() => memberOf(value as JsonValue).string()).received).toBe(received);
  });

  it("formats no more of a large value than it shows", () => {
    let seen = 0;
    const get = (target: string[][], key: string | symbol): unknown => {
      if (/^\d+$/.test(String(key))) seen += 1;
      return Reflect.get(target, key);
    };
    const large = new Proxy(
      Array.from({ length: 1000 }, () => ["x".repeat(10)]),
      { get },
    );
    expect(failure(() => memberOf(large).object()).received).toHaveLength(60);
    expect(seen).toBeLessThanOrEqual(60);
  });
});
