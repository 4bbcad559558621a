import { describe, expect, it } from "vitest";
import { CorruptCheckpointError } from "../errors.js";
import type { KeyPath } from "./keyPath.js";
import { buildTree, leavesOf, type PathLeaf, plainTree } from "./tree.js";

/** `"a"` is a member, `"#0"` a list index. */
const path = (...keys: string[]): KeyPath =>
  keys.map((key) => (key.startsWith("#") ? { key: key.slice(1), kind: "sequence" } : { key, kind: "mapping" }));

const leaf = (value: unknown, ...keys: string[]): PathLeaf<unknown> => ({ path: path(...keys), leaf: value });

const plain = (...leaves: PathLeaf<unknown>[]) => plainTree(buildTree(leaves, "_METADATA"), (value) => value);

describe("buildTree", () => {
  it("makes objects of mappings and arrays of sequences", () => {
    expect(plain(leaf(1, "a", "#0"), leaf(2, "a", "#1", "b"), leaf(3, "c"))).toEqual({ a: [1, { b: 2 }], c: 3 });
  });

  it("sorts list elements by index, whatever the order of the entries", () => {
    const leaves = Array.from({ length: 12 }, (_, index) => leaf(index, `#${index}`)).reverse();
    expect(plain(...leaves)).toEqual(Array.from({ length: 12 }, (_, index) => index));
  });

  it("gives a bare leaf as itself", () => {
    expect(plain(leaf(5))).toBe(5);
  });

  it("takes __proto__, constructor, empty and numeric keys as data", () => {
    const tree = plain(leaf(1, "__proto__", "x"), leaf(2, "constructor"), leaf(3, ""), leaf(4, "10")) as Record<string, unknown>;
    expect(Object.getPrototypeOf(tree)).toBe(Object.prototype);
    expect(Object.entries(tree)).toEqual([
      ["10", 4],
      ["__proto__", { x: 1 }],
      ["constructor", 2],
      ["", 3],
    ]);
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  it("drops a leaf whose path begins another's", () => {
    expect(plain(leaf(1, "a"), leaf(2, "a", "b"))).toEqual({ a: { b: 2 } });
  });

  it.each([
    ["a gap in a list", [leaf(0, "#0"), leaf(2, "#2")], /indices 0 to 1/],
    ["a huge index, without allocating for it", [leaf(0, "#4294967294")], /indices 0 to 0/],
    ["an index that is no number", [leaf(0, "#x")], /indices/],
    ["both kinds of keys", [leaf(0, "#0"), leaf(1, "a")], /one kind/],
    ["one path twice", [leaf(0, "a"), leaf(1, "a")], /twice/],
    ["no leaf at all", [], /without entries/],
  ])("refuses %s", (_, leaves, message) => {
    expect(() => plain(...leaves)).toThrow(CorruptCheckpointError);
    expect(() => plain(...leaves)).toThrow(message);
  });

  it("lists leaves in tree order", () => {
    expect([...leavesOf(buildTree([leaf(1, "b"), leaf(2, "a", "#0")], "f"))]).toEqual([1, 2]);
  });
});
