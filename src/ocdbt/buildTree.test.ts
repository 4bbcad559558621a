import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareBytes } from "../bytes/compare.js";
import { CheckpointValueError } from "../errors.js";
import { memoryStorage } from "../storage/memory.js";
import { type BuiltTree, buildTree, type TreeEntry } from "./buildTree.js";
import { database } from "./databases.testing.js";
import { type BtreeNode, btreeNode } from "./format/btreeNode.js";
import { writeBody } from "./format/envelope.js";
import { type WalkedNode, walkNodes } from "./walkNodes.testing.js";

const utf8 = (text: string) => new TextEncoder().encode(text);

const path = `d/${"0".repeat(32)}`;

/** Puts all nodes into one file, one behind the other. */
function placed(entries: readonly TreeEntry[], limit: number): { readonly nodes: BtreeNode[]; readonly tree: BuiltTree | undefined } {
  const building = buildTree(entries, limit);
  const nodes: BtreeNode[] = [];
  let offset = 0;
  let step = building.next();
  while (step.done !== true) {
    nodes.push(step.value);
    const { length } = writeBody(btreeNode, step.value);
    step = building.next({ path, offset, length });
    offset += length;
  }
  return { nodes, tree: step.value };
}

/** The entries of all leaves, with whole keys. */
function entriesOf(nodes: readonly WalkedNode[]): TreeEntry[] {
  return nodes.flatMap(({ node, prefix }) => {
    if (node.kind === "interior") return [];
    return Array.from(node.entries, ({ key, value }) => ({
      key: Buffer.concat([prefix, key]),
      value:
        value.kind === "inline"
          ? value.bytes
          : { path: node.files[value.fileId]?.relativePath ?? "", offset: Number(value.offset), length: Number(value.length) },
    }));
  });
}

/** Databases that TensorStore wrote in one go, with their most bytes of a node. */
const wholeDatabases: [name: string, limit: number, height: number, generation?: bigint][] = [
  ["uncompressed", 300, 4],
  ["interior", 500, 3, 2n],
  ["level-19", 1e8, 0],
  ["sizes", 1e8, 0],
  ["inline", 1e8, 0],
  ["long-keys", 1e8, 0],
  ["binary-keys", 1e8, 0],
  ["unicode-keys", 1e8, 0],
  ["one-key", 8388608, 0],
];

describe("a tree of the same entries", () => {
  test.each(wholeDatabases)("has the very nodes that TensorStore wrote in %s", async (name, limit, height, generation) => {
    const theirs = await walkNodes(memoryStorage(database(name)), generation);
    const building = buildTree(entriesOf(theirs), limit);
    let step = building.next();
    for (const { node, place } of theirs) {
      expect(step.done).toBe(false);
      expect(Buffer.compare(writeBody(btreeNode, step.value as BtreeNode), writeBody(btreeNode, node))).toBe(0);
      step = building.next(place);
    }
    const root = theirs.at(-1);
    expect(step).toEqual({ done: true, value: { root: root?.place, height, statistics: root?.statistics } });
  });
});

const inline = (key: string, length = 0): TreeEntry => ({ key: utf8(key), value: new Uint8Array(length) });

const countOf = (node: BtreeNode) => (node.kind === "leaf" ? node.entries.length : node.children.length);

describe("buildTree", () => {
  test("makes nothing of nothing", () => {
    expect(placed([], 100)).toEqual({ nodes: [], tree: undefined });
  });

  test("leaves out what all keys of a node share, and nothing in a root", () => {
    const entries = ["tree.a/.zarray", "tree.a/0", "tree.b/.zarray", "tree.b/0"].map((key) => inline(key, 40));
    const [only] = placed(entries, 1000).nodes;
    expect(only?.kind === "leaf" && Array.from(only.entries, ({ key }) => Buffer.from(key).toString())).toEqual([
      "tree.a/.zarray",
      "tree.a/0",
      "tree.b/.zarray",
      "tree.b/0",
    ]);
    const [left, right, root] = placed(entries, 150).nodes;
    expect(left?.kind === "leaf" && Array.from(left.entries, ({ key }) => Buffer.from(key).toString())).toEqual([".zarray", "0"]);
    expect(right?.kind === "leaf" && right.entries.length).toBe(2);
    expect(
      root?.kind === "interior" &&
        root.children.map(({ key, subtreeCommonPrefixLength }) => [`${Buffer.from(key)}`, subtreeCommonPrefixLength]),
    ).toEqual([
      ["tree.a/.zarray", 7],
      ["tree.b/.zarray", 7],
    ]);
  });

  test("refuses keys that come twice, out of order, or are too long", () => {
    const refused =
      (...keys: string[]) =>
      () =>
        placed(
          keys.map((key) => inline(key)),
          100,
        );
    expect(refused("a", "b", "b")).toThrow(CheckpointValueError);
    expect(refused("a", "b", "b")).toThrow('two values have the key "b"');
    expect(refused("b", "a")).toThrow('the key "a" comes after a greater one');
    expect(refused("\u{1f389}", "\uffff")).toThrow("greater");
    expect(refused("a".repeat(65536))).toThrow("a key of 65536 bytes is longer than 65535");
    expect(placed([inline("a".repeat(65535))], 100).nodes).toHaveLength(1);
  });

  test("puts 20,000 arrays into one leaf, as Orbax does, also with keys of 1 KiB", () => {
    const names = Array.from({ length: 20_000 }, (_, index) => `tree.${String(index).padStart(5, "0")}`);
    const keys = names.flatMap((name) => [`${name}/.zarray`, `${name}/0`]);
    const short = placed(
      keys.map((key) => ({ key: utf8(key), value: { path, offset: 0, length: 5000 } })),
      1e8,
    );
    expect(short.nodes.map(countOf)).toEqual([40_000]);
    expect(short.tree?.statistics).toMatchObject({ numKeys: 40_000n, numIndirectValueBytes: 200_000_000n });
    const long = placed(
      keys.map((key) => inline(key.padEnd(1024, "x"), 150)).sort((a, b) => compareBytes(a.key, b.key)),
      1e8,
    );
    expect(long.nodes.map(countOf)).toEqual([40_000]);
    expect(long.tree?.height).toBe(0);
  });

  test("parts a root whose keys would take too much memory, although they share most", () => {
    const keys = Array.from({ length: 1500 }, (_, index) => "p".repeat(50_000) + String(index).padStart(4, "0"));
    const { nodes, tree } = placed(
      keys.map((key) => inline(key)),
      1e8,
    );
    expect(nodes.map(countOf)).toEqual([1, 1499, 2]);
    expect(tree?.height).toBe(1);
  });

  test("keeps nodes within the limit, but for one entry, and two where entries are larger than it", () => {
    const keys = fc.uniqueArray(fc.uint8Array({ maxLength: 12, max: 3 }), {
      minLength: 1,
      maxLength: 150,
      selector: (key) => Buffer.from(key).toString("hex"),
    });
    const lengths = fc.infiniteStream(fc.oneof(fc.nat(40), fc.nat(400)));
    fc.assert(
      fc.property(keys, lengths, fc.integer({ min: 1, max: 2000 }), (unsorted, valueLengths, limit) => {
        const entries = unsorted.sort(compareBytes).map((key) => ({ key, value: new Uint8Array(valueLengths.next().value ?? 0) }));
        const { nodes, tree } = placed(entries, limit);
        const largestEntry = 450;
        const most = Math.max(limit, 2 * largestEntry) + largestEntry;
        for (const node of nodes) expect(writeBody(btreeNode, node).length).toBeLessThanOrEqual(most);
        expect(nodes.filter(({ kind }) => kind === "leaf").reduce((sum, node) => sum + countOf(node), 0)).toBe(entries.length);
        expect(tree?.height).toBe(nodes.at(-1)?.height);
        const bodies = nodes.reduce((sum, node) => sum + writeBody(btreeNode, node).length, 0);
        expect(tree?.statistics).toEqual({ numKeys: BigInt(entries.length), numTreeBytes: BigInt(bodies), numIndirectValueBytes: 0n });
      }),
    );
  });
});
