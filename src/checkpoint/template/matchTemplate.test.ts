import { describe, expect, it } from "vitest";
import { CheckpointValueError } from "../../errors.js";
import { leavesOf, plainTree } from "../../pytree/tree.js";
import type { StoredTree } from "../item/leaves.js";
import { type MatchedItem, type MatchScope, matchNothing } from "./matchNothing.js";
import { matchTemplate } from "./matchTemplate.js";
import { everyLeaf } from "./selectedLeaves.js";
import { type Selection, selectLeaves } from "./selection.js";
import { emptyNode, jaxArray, type Nested, pythonNumber, pythonString, storedTree } from "./storedTree.testing.js";
import { shapeDtypeStruct } from "./template.js";

const w = jaxArray("float32", 2);
const struct = shapeDtypeStruct([2], "float32");

/** Mismatches as `problem path`, and the tree with `"stored"` for each leaf that would be read. */
function match(stored: Nested, template: unknown, { select, missing = "error" }: Options = {}) {
  const tree = storedTree(stored);
  const matched = matchTemplate("model", tree, template, { selected: selectedOf(tree, select), missing });
  return { mismatches: matched.mismatches.map(({ problem, leaf }) => `${problem} ${leaf}`), tree: plain(matched) };
}

interface Options {
  readonly select?: Selection;
  readonly missing?: MatchScope["missing"];
}

const selectedOf = (tree: StoredTree, select: Selection | undefined) =>
  (select === undefined ? undefined : selectLeaves(select, [{ prefix: "", leaves: leavesOf(tree) }])[0]) ?? everyLeaf;

const plain = ({ tree }: MatchedItem) => tree && plainTree(tree, (leaf) => (leaf.kind === "stored" ? "stored" : leaf.value));

describe("a template against a stored tree (substrax-behaviour 6)", () => {
  it("takes the same tree", () => {
    expect(match({ a: w, b: [w, pythonNumber()] }, { b: [struct, 0], a: struct })).toEqual({
      mismatches: [],
      tree: { a: "stored", b: ["stored", "stored"] },
    });
  });

  it("lists missing and extra leaves together", () => {
    expect(match({ a: w, b: { c: w, d: w } }, { a: struct, e: { f: struct, g: [1] } }).mismatches).toEqual([
      "missing e/f",
      "missing e/g/0",
      "unexpected b/c",
      "unexpected b/d",
    ]);
  });

  it("refuses {} for an item that is not empty", () => {
    expect(match({ a: w }, {}).mismatches).toEqual(["unexpected a"]);
  });

  it.each([
    ["a dict for a list", [w], { 0: struct }],
    ["a list for a dict", { 0: w }, [struct]],
  ])("refuses %s", (_, stored, template) => {
    expect(match(stored, template).mismatches).toEqual(["unexpected 0", "missing 0"]);
  });

  it("refuses a longer and a shorter list", () => {
    expect(match([w], [struct, struct]).mismatches).toEqual(["missing 1"]);
    expect(match([w, w], [struct]).mismatches).toEqual(["unexpected 1"]);
  });

  it.each([
    [null, null],
    [{}, {}],
    [[], []],
  ])("takes %j for any empty node, which comes back as the template's", (template, value) => {
    for (const type of ["None", "Dict", "List", "Tuple", "NamedTuple"] as const) {
      expect(match({ a: w, e: emptyNode(type) }, { a: struct, e: template })).toEqual({ mismatches: [], tree: { a: "stored", e: value } });
    }
  });

  it("takes an array where None is stored: null comes back", () => {
    expect(match({ a: emptyNode() }, { a: struct })).toEqual({ mismatches: [], tree: { a: null } });
  });

  it("calls an empty node that the template leaves out, or has too many, a mismatch", () => {
    expect(match({ a: w, e: emptyNode() }, { a: struct }).mismatches).toEqual(["unexpected e"]);
    expect(match({ a: w }, { a: struct, e: null }).mismatches).toEqual(["missing e"]);
    expect(match({ a: w }, { a: struct, e: {} }).mismatches).toEqual(["missing e"]);
  });

  it("refuses a container with leaves where an empty node is stored", () => {
    expect(match({ e: emptyNode("Dict") }, { e: { x: struct } }).mismatches).toEqual(["missing e/x"]);
  });

  it("skips a leaf for null, whatever it is", () => {
    expect(match({ a: w, n: pythonNumber(), s: pythonString }, { a: null, n: null, s: null })).toEqual({
      mismatches: [],
      tree: { a: null, n: null, s: null },
    });
  });

  it("refuses null for a whole subtree", () => {
    expect(match({ a: { b: w, c: w } }, { a: null }).mismatches).toEqual(["unexpected a/b", "unexpected a/c"]);
  });

  it("refuses a container where a leaf is stored, and the other way round", () => {
    expect(match({ a: w }, { a: { b: struct } }).mismatches).toEqual(["unexpected a", "missing a/b"]);
    expect(match({ a: { b: w } }, { a: struct }).mismatches).toEqual(["unexpected a/b", "missing a"]);
  });

  it("says what to do with a struct that lost its mark", () => {
    const copy = JSON.parse(JSON.stringify(struct));
    expect(() => match({ a: { w } }, { a: { w: copy } })).toThrow(/^model\/a\/w: .*shapeDtypeStruct/);
    expect(match({ a: { shape: [pythonNumber()], dtype: pythonString } }, { a: copy }).mismatches).toEqual([]);
  });

  it("takes int keys as strings", () => {
    expect(match({ 1: w, 10: w }, { 1: struct, 10: struct }).mismatches).toEqual([]);
  });

  it("has no inherited members", () => {
    expect(match({ constructor: w, toString: w }, {}).mismatches).toEqual(["unexpected constructor", "unexpected toString"]);
  });

  it("takes a stored dict with members like an array's for a dict", () => {
    const members = { shape: [1], dtype: "x", data: new Float32Array(1) };
    expect(match({ shape: [pythonNumber()], dtype: pythonString, data: jaxArray("float32", 1) }, members).mismatches).toEqual([]);
  });

  it("takes a bare leaf", () => {
    expect(match(w, struct)).toEqual({ mismatches: [], tree: "stored" });
    expect(match(w, { a: struct }).mismatches).toEqual(["unexpected ", "missing a"]);
  });

  it("refuses a template that holds itself", () => {
    const template: Record<string, unknown> = { a: struct };
    template.self = template;
    expect(() => match({ a: w }, template)).toThrow(CheckpointValueError);
  });

  it("says what each side has", () => {
    const { mismatches } = matchTemplate("model", storedTree({ a: w }), { b: 3 });
    expect(mismatches).toEqual([
      { item: "model", leaf: "b", problem: "missing", expected: "a number", received: "nothing" },
      { item: "model", leaf: "a", problem: "unexpected", expected: "nothing there", received: "float32[2]" },
    ]);
  });
});

describe("without a template", () => {
  it("empty nodes come back as null, {} and []", () => {
    const stored = storedTree([emptyNode("None"), emptyNode("NamedTuple"), emptyNode("Dict"), emptyNode("List"), emptyNode("Tuple")]);
    expect(plain(matchNothing("model", stored))).toEqual([null, null, {}, [], []]);
  });
});

describe("without a template, of selected leaves", () => {
  const select = (stored: Nested, select: Selection) => {
    const tree = storedTree(stored);
    return plain(matchNothing("model", tree, { selected: selectedOf(tree, select), missing: "error" }));
  };

  it("only those come back, with nothing around them", () => {
    expect(select({ a: { b: w, c: w }, d: { e: w }, f: emptyNode("Dict") }, "a/b")).toEqual({ a: { b: "stored" } });
  });

  it("lists keep their places and their length", () => {
    expect(select({ layers: [w, { k: w }, { k: w }, w] }, "layers/2/**")).toEqual({ layers: [null, null, { k: "stored" }, null] });
  });

  it("empty nodes come back where a glob matches them", () => {
    expect(select({ a: w, e: emptyNode("Dict"), n: emptyNode() }, ["a", "e"])).toEqual({ a: "stored", e: {} });
  });
});

describe("a template with selected leaves", () => {
  const stored = { params: { a: w, b: w }, opt: [w, emptyNode()] };

  it("needs only those, and compares no others", () => {
    expect(match(stored, { params: { a: struct, b: struct } }, { select: "params/**" })).toEqual({
      mismatches: [],
      tree: { params: { a: "stored", b: "stored" } },
    });
    expect(match(stored, { params: { a: struct, b: [1] }, opt: { odd: struct }, more: struct }, { select: "params/a" })).toEqual({
      mismatches: [],
      tree: { params: { a: "stored" } },
    });
  });

  it("reports those that only one of them has", () => {
    expect(match(stored, { params: { a: struct, c: struct }, more: struct }, { select: "params/**" }).mismatches).toEqual([
      "missing params/c",
      "unexpected params/b",
    ]);
  });

  it("excuses no leaf of the template from a function", () => {
    const template = { params: { a: struct, b: struct }, more: struct };
    expect(match({ params: { a: w, b: w } }, template, { select: () => true }).mismatches).toEqual(["missing more"]);
  });

  it("lists are as long as the template's", () => {
    expect(match({ l: [w, w, w] }, { l: [struct, struct] }, { select: "l/1" })).toEqual({ mismatches: [], tree: { l: [null, "stored"] } });
    expect(match({ l: [w] }, { l: [struct, struct] }, { select: "l/0" })).toEqual({ mismatches: [], tree: { l: ["stored", null] } });
  });
});

describe("a template that may be partial", () => {
  const skip = (stored: Nested, template: unknown) => match(stored, template, { missing: "skip" });

  it("leaves out what only one of the two has", () => {
    expect(skip({ a: w, b: { c: w, d: w }, e: emptyNode() }, { b: { d: struct, x: struct }, y: [struct], z: {} })).toEqual({
      mismatches: [],
      tree: { b: { d: "stored" } },
    });
  });

  it("leaves out containers that have nothing in common", () => {
    expect(skip({ a: w, b: { c: w } }, { a: struct, b: { d: struct } })).toEqual({ mismatches: [], tree: { a: "stored" } });
  });

  it("gives lists the template's length, with null where nothing is stored", () => {
    expect(skip({ l: [w, w, w] }, { l: [struct] }).tree).toEqual({ l: ["stored"] });
    expect(skip({ l: [w] }, { l: [struct, struct] }).tree).toEqual({ l: ["stored", null] });
  });

  it("still reports what is of another kind", () => {
    expect(skip({ a: w, b: [w] }, { a: { x: struct }, b: { 0: struct } }).mismatches).toEqual([
      "unexpected a",
      "missing a/x",
      "unexpected b/0",
      "missing b/0",
    ]);
  });

  it("has at least one leaf in common, or is meant for another item", () => {
    expect(skip({ a: w }, { b: struct })).toEqual({ mismatches: ["missing "], tree: undefined });
    const stored = storedTree(Object.fromEntries(Array.from({ length: 7 }, (_, index) => [`a${index}`, w])));
    expect(matchTemplate("", stored, { b: struct }, { selected: everyLeaf, missing: "skip" }).mismatches).toMatchObject([
      { expected: "only leaves that are not stored", received: '"a0", "a1", "a2", "a3", "a4" and 2 more' },
    ]);
  });
});
