import { describe, expect, it } from "vitest";
import { CheckpointValueError } from "../../errors.js";
import { leavesOf } from "../../pytree/tree.js";
import { type Selection, selectLeaves } from "./selection.js";
import { emptyNode, jaxArray, type Nested, pythonString, storedTree } from "./storedTree.testing.js";

const array = (dtype: "float32" | "int8" = "float32") => jaxArray(dtype, 2);

const model: Nested = { params: { a: { kernel: array(), bias: array("int8") }, "x/y": array() }, name: pythonString, none: emptyNode() };

/** Paths of the selected leaves of a model, whose paths begin with the prefix. */
function selected(selection: Selection, prefix = "", tree: Nested = model): string[] {
  const leaves = leavesOf(storedTree(tree));
  const [chosen] = selectLeaves(selection, [{ prefix, leaves }]);
  return leaves.filter((leaf) => chosen?.has(leaf)).map(({ path }) => path);
}

describe("a selection", () => {
  it.each<[string, Selection, string[]]>([
    ["takes what a glob matches", "params/**", ["params/a/kernel", "params/a/bias", "params/x/y"]],
    ["takes what any of several globs matches", ["**/kernel", "name"], ["params/a/kernel", "name"]],
    ["takes nothing that a glob with ! matches, wherever it stands", ["!**/bias", "params/**"], ["params/a/kernel", "params/x/y"]],
    ["of globs with ! only takes all others", ["!params/**"], ["name", "none"]],
    ["takes empty nodes by their paths", "no*", ["none"]],
    ["takes what a function takes, which sees no empty node", ({ dtype }) => dtype !== "int8", ["params/a/kernel", "params/x/y", "name"]],
    ["knows keys with a slash by their paths", "params/*/y", ["params/x/y"]],
  ])("%s", (_, selection, paths) => expect(selected(selection)).toEqual(paths));

  it("sees paths with their prefix, a bare leaf as the prefix", () => {
    expect(selected("model/name", "model")).toEqual(["name"]);
    expect(selected(({ path }) => path === "model/name", "model")).toEqual(["name"]);
    expect(selected("rng", "rng", array())).toEqual([""]);
  });

  it("says of leaves that are stored nowhere whether it would take them", () => {
    const leaves = leavesOf(storedTree(model));
    const [byGlob] = selectLeaves(["model/params/**", "!**/bias"], [{ prefix: "model", leaves }]);
    expect(["params/b", "params/b/bias", "names"].map((path) => byGlob?.covers(path))).toEqual([true, false, false]);
    const [byFunction] = selectLeaves(() => true, [{ prefix: "", leaves }]);
    expect(byFunction?.covers("anything")).toBe(true);
  });

  it.each<[string, unknown, RegExp]>([
    ["a node instead of its leaves", ["params"], /no leaf matches "params" of select; "params\/\*\*" matches the leaves below it$/],
    ["a glob without a leaf", ["params/**", "parms/**", "x"], /no leaf matches "parms\/\*\*", "x".*"params\/a\/kernel"/s],
    ["globs that take everything away", ["params/**", "!**"], /select leaves none/],
    ["an async function, which would take all", async () => false, /select is an async function; let it answer at once/],
    ["a function that takes none", () => false, /select chose none.*"params\/a\/kernel"/s],
  ])("refuses %s, and names what there is", (_, selection, message) => {
    expect(() => selected(selection as Selection)).toThrow(CheckpointValueError);
    expect(() => selected(selection as Selection)).toThrow(message);
  });

  it("names a few of many paths", () => {
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`w${index}`, array()]));
    expect(() => selected("x", "", many)).toThrow(/"w0", "w1", "w2", "w3", "w4" and 4 more/);
  });

  it("of nothing at all says so", () => {
    expect(() => selectLeaves("a", [{ prefix: "", leaves: [] }])).toThrow(/there are none/);
  });
});
