import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CheckpointValueError } from "../../errors.js";
import { globMatcher } from "./glob.js";

describe("a glob", () => {
  it.each([
    ["params/dense/kernel", "params/dense/kernel", "params/dense/kernels params/dense Params/dense/kernel"],
    ["params/*/kernel", "params/a/kernel params/.a/kernel params//kernel", "params/kernel params/a/b/kernel"],
    ["params/**", "params params/a params/a/b/c", "paramss params2/a a/params/b"],
    ["**/kernel", "kernel a/kernel a/b/kernel", "a/kernel/b akernel"],
    ["a/**/z", "a/z a/b/z a/b/z/c/z", "a/b/z/c az"],
    ["**", "a a/b/c", ""],
    ["layers_?/w", "layers_1/w layers_é/w layers_😀/w", "layers_/w layers_12/w layers_//w"],
    ["*_[0-3]", "a_0 _3 a_1_2", "a_4 a_ a_33 a/b_1"],
    ["[!a-c]x", "dx", "ax bx x"],
    ["[^a]x", "bx", "ax"],
    ["[]a]x", "]x ax", "bx"],
    ["[a-]x", "-x ax", "bx"],
    ["{a,b}/x", "a/x b/x", "{a,b}/x c/x ab/x"],
    ["{a,b/{c,d}}/x", "a/x b/c/x b/d/x", "b/x c/x"],
    ["x{,_ema}", "x x_ema", "x_"],
    ["\\*\\{a\\[\\\\", "*{a[\\", "x{a[\\"],
    ["a**b", "ab axxb", "a/b"],
    ["", "", "a"],
  ])("%s matches what it names, and nothing else", (glob, matching, others) => {
    const matches = globMatcher(glob);
    expect(matching.split(" ").filter((path) => !matches(path))).toEqual([]);
    expect(others.split(" ").filter((path) => path !== "" && matches(path))).toEqual([]);
  });

  it("of ** matches a bare leaf, whose path is empty", () => expect(globMatcher("**")("")).toBe(true));

  it.each(["{a", "a/[b", "[]", "{1,2}".repeat(10)])("%s is none", (glob) => {
    expect(() => globMatcher(glob)).toThrow(CheckpointValueError);
  });

  it("finds what a regular expression finds", () => {
    const part = fc.array(fc.constantFrom("a", "b", "*", "?"), { maxLength: 5 }).map((signs) => signs.join(""));
    const glob = fc.array(fc.oneof(part, fc.constant("**")), { minLength: 1, maxLength: 4 });
    const path = fc.array(
      fc.array(fc.constantFrom("a", "b"), { maxLength: 4 }).map((signs) => signs.join("")),
      { minLength: 1, maxLength: 5 },
    );
    fc.assert(
      fc.property(glob, path, (steps, parts) => {
        const pattern = steps.map((step) => (step === "**" ? "(?:[^/]*/)*" : `${step.replaceAll("*", "[^/]*").replaceAll("?", "[^/]")}/`));
        const expected = new RegExp(`^${pattern.join("")}$`).test(`${parts.join("/")}/`);
        expect(globMatcher(steps.join("/"))(parts.join("/"))).toBe(expected);
      }),
    );
  });

  it("takes little time for long names that almost match", () => {
    const long = "a".repeat(2000);
    expect(globMatcher("*a*a*a*a*a*a*b")(long)).toBe(false);
    expect(globMatcher("**/a/**/a/**/a/**/b")(Array.from(long).join("/"))).toBe(false);
  });
});
