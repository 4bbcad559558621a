import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { flattenTree, Refusal } from "./flattenTree.js";
import { leafPath } from "./keyPath.js";
import { buildTree, plainTree } from "./tree.js";
import { parseTreeMetadata, type TreeEntry } from "./treeMetadata.js";

const numbers = (value: unknown) => (typeof value === "number" ? value : undefined);

/** Lines such as `a/0 = 1`, and what was refused. */
function flat(tree: unknown, leafOf: Parameters<typeof flattenTree<unknown>>[1] = numbers): readonly [string[], string[]] {
  const { nodes, refused } = flattenTree(tree, leafOf);
  const lines = nodes.map((node) => `${leafPath(node.path)} = ${"empty" in node ? node.empty : node.leaf}`);
  return [lines, refused.map(({ path, problem }) => `${leafPath(path)} ${problem}`)];
}

describe("flattenTree", () => {
  it("lists leaves and empty nodes in tree order", () => {
    const tree = { b: [1, { z: 2, a: null }], a: {}, "10": 3, "2": 4, "\u{1f389}": 5, "\uffff": 6, c: [[]] };
    expect(flat(tree)).toEqual([
      ["10 = 3", "2 = 4", "a = Dict", "b/0 = 1", "b/1/a = None", "b/1/z = 2", "c/0 = List", "\uffff = 6", "\u{1f389} = 5"],
      [],
    ]);
    expect(flattenTree([7, {}], numbers).nodes).toEqual([
      { path: [{ key: "0", kind: "sequence" }], leaf: 7 },
      { path: [{ key: "1", kind: "sequence" }], empty: "Dict" },
    ]);
  });

  it("orders the elements of long lists by index", () => {
    expect(flat(Array.from({ length: 12 }, (_, index) => index))[0].at(-1)).toBe("11 = 11");
  });

  it("takes a bare leaf, nothing, and empty containers as whole trees", () => {
    for (const [tree, line] of [
      [1, " = 1"],
      [null, " = None"],
      [[], " = List"],
      [{}, " = Dict"],
    ])
      expect(flat(tree)[0]).toEqual([line]);
  });

  it("takes any key as data, and objects without a prototype", () => {
    const tree = Object.assign(Object.create(null), { constructor: 1 }) as object;
    Object.defineProperty(tree, "__proto__", { value: { x: 2 }, enumerable: true });
    expect(flat(tree)).toEqual([["__proto__/x = 2", "constructor = 1"], []]);
  });

  it("refuses leaves that share a name on disk", () => {
    expect(flat({ "a.b": 1, a: { b: 2 }, "a/b": 3, c: {}, "": { "": 4 }, ".": 5 })[1]).toEqual([
      '. has the same name on disk, ".", as ["",""]',
      'a.b has the same name on disk, "a.b", as ["a","b"]',
    ]);
  });

  it("names all that cannot be stored, with its paths", () => {
    class Layer {}
    const tree = { a: undefined, b: new Map(), c: [() => 0, Symbol("s")], d: new Layer(), e: { "\ud800": 1 }, f: 1, g: "text" };
    const leafOf = (value: unknown) => (typeof value === "string" ? new Refusal("is refused by the caller") : numbers(value));
    expect(flat(tree, leafOf)).toEqual([
      ["f = 1"],
      [
        "a is undefined, which no checkpoint can hold",
        "b is a Map, which no checkpoint can hold",
        "c/0 is a function, which no checkpoint can hold",
        "c/1 is a symbol, which no checkpoint can hold",
        "d is an instance of a class, which no checkpoint can hold",
        'e has a key "\\ud800" with half a surrogate pair, which is no UTF-8',
        "g is refused by the caller",
      ],
    ]);
  });

  it("refuses a tree that holds itself", () => {
    const tree: Record<string, unknown> = {};
    tree.a = tree;
    expect(flat(tree)[1]).toEqual([expect.stringContaining("nests deeper than 512; does it hold itself?")]);
  });
});

const fixtures = join(import.meta.dirname, "../../e2e/fixtures/data");

/** Trees that real Orbax wrote. Not those made by hand, one that a save refuses, and those with an order of their own: fields of a class, and integer keys. */
const others = /^(records|zarr-variants|zero-size|shared-names|trees.checkpoints.(1.model|2.model|4.\w+))\W/;
const ofGenerations = /^generations.[\d.]+.checkpoints.(directories|ocdbt|aggregated-some|train-state|flax-orbax|rich-types|v1)[\\/]/;
const trees = readdirSync(fixtures, { recursive: true, encoding: "utf8" }).filter(
  (path) => /[\\/]_METADATA$/.test(path) && !others.test(path) && !ofGenerations.test(path),
);

describe("tree order", () => {
  const orderIn = (path: string) => {
    const { entries } = parseTreeMetadata(readFileSync(join(fixtures, path)), path);
    const tree = plainTree(
      buildTree(
        entries.map((leaf) => ({ path: leaf.path, leaf })),
        path,
      ),
      (leaf) => leaf,
    );
    const isEntry = (value: unknown) => (entries.includes(value as TreeEntry) ? (value as TreeEntry) : undefined);
    return { entries, flattened: flattenTree(tree, isEntry).nodes.map((node) => "leaf" in node && node.leaf) };
  };

  it.each(trees.map((path) => [path]))("is that of %s", (path) => {
    const { entries, flattened } = orderIn(path);
    expect(flattened).toEqual(entries);
  });
});
