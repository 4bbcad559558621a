import type { Dtype } from "../../arrays/dtypes.js";
import { CheckpointValueError } from "../../errors.js";
import { longestKey } from "../../ocdbt/format/btreeKeys.js";
import { keyBytes } from "../../ocdbt/keyBytes.js";
import { type FlatNode, flattenTree, type RefusedNode } from "../../pytree/flattenTree.js";
import { unsavableStrings } from "../../pytree/formatStrings.js";
import { type KeyPath, leafPath, paramName } from "../../pytree/keyPath.js";
import type { RichNode } from "../../pytree/richTypes.js";
import type { ValueType } from "../../pytree/treeMetadata.js";
import { emptyValue, type StoredTree } from "../item/leaves.js";
import type { Likeness } from "./likeness.js";
import { type SavedArray, type SavedLeaf, savedLeaf } from "./savedLeaf.js";

/** What stands at a path of an item's tree: a leaf, or nothing. */
export type PlannedNode = { readonly path: KeyPath; readonly leaf: SavedLeaf } | { readonly path: KeyPath; readonly valueType: ValueType };

/** An item that is going to be written. */
export interface PlannedItem {
  readonly name: string;
  /** In tree order; every path begins with substrax's node `tree`. */
  readonly nodes: readonly PlannedNode[];
  /** Those that have arrays, in tree order. */
  readonly arrays: readonly PlannedArray[];
  /** Dtypes of the arrays by leaf path, as the `dtypes` item has them; undefined where two leaves of one path differ in it. */
  readonly dtypes: ReadonlyMap<string, Dtype> | undefined;
  /** Rich types that it keeps, from its root on. */
  readonly richTypes: RichNode | undefined;
}

/** An array that is going to be written. */
export interface PlannedArray {
  readonly name: string;
  /** Item and leaf path, for progress and errors. */
  readonly label: string;
  readonly leaf: SavedArray;
}

/** Everything that a save writes, known before anything is touched. */
export interface SavePlan {
  readonly items: readonly PlannedItem[];
  /** Bytes of all arrays. */
  readonly totalBytes: number;
  readonly totalLeaves: number;
}

/**
 * Plans a save: flattens the trees, and finds all that cannot be saved.
 * @param like what leaves and containers keep the kinds of, by item.
 * @throws CheckpointValueError naming every part that no checkpoint can hold.
 */
export function planSave(items: Readonly<Record<string, unknown>>, like: ReadonlyMap<string, Likeness>): SavePlan {
  const planned = Object.entries(items).map(([name, tree]) => planItem(name, tree, like.get(name)));
  const refused = planned.flatMap((item) => item.refused.map(({ path, problem }) => `${startOf(labelOf(item.name, path))} ${problem}`));
  if (refused.length > 0) throw new CheckpointValueError(`these cannot be saved, and nothing was: ${refused.join("; ")}`);
  const arrays = planned.flatMap((item) => item.arrays);
  const totalBytes = arrays.reduce((bytes, { leaf }) => bytes + leaf.byteLength, 0);
  return { items: planned, totalBytes, totalLeaves: arrays.length };
}

const labelOf = (item: string, path: KeyPath): string => [item, leafPath(path.slice(1))].filter((part) => part !== "").join("/");

/** Of what holds itself, a path has no end. */
const startOf = (label: string): string => (label.length > longestLabel ? `${label.slice(0, longestLabel)}…` : label);
const longestLabel = 200;

/** The node under which substrax puts each item. */
const itemNode = "tree";

function planItem(name: string, tree: unknown, likeness: Likeness | undefined): PlannedItem & { readonly refused: readonly RefusedNode[] } {
  const like = likeness?.tree;
  const { nodes, refused } = flattenTree<SavedLeaf>({ [itemNode]: tree }, (value, path) => {
    if (path.length === 0) return undefined;
    const stored = leafAt(like, path.slice(1));
    return savedLeaf(value, stored === undefined || stored.kind === "empty" ? undefined : { kind: stored.kind, dtype: dtypeOf(stored) });
  });
  const arrays = nodes.flatMap((node) => {
    if (!("leaf" in node) || node.leaf.kind === "string") return [];
    return [{ name: paramName(node.path), label: labelOf(name, node.path), leaf: node.leaf }];
  });
  return {
    name,
    nodes: nodes.map((node) => plannedNode(node, like)),
    arrays,
    dtypes: dtypesOf(nodes),
    richTypes: likeness?.richTypes && { kind: "dict", members: [[itemNode, likeness.richTypes]] },
    refused: [...refused, ...refusedStrings(nodes), ...longNames(nodes)],
  };
}

function plannedNode(node: FlatNode<SavedLeaf>, like: StoredTree | undefined): PlannedNode {
  if ("leaf" in node) return node;
  const stored = leafAt(like, node.path.slice(1));
  // An empty tuple comes back as [], and an empty namedtuple as null.
  const isSame = stored?.kind === "empty" && JSON.stringify(emptyValue(stored)) === emptyTexts[node.empty];
  return { path: node.path, valueType: isSame ? stored.valueType : node.empty };
}

const emptyTexts = { None: "null", Dict: "{}", List: "[]" } as const;

/** The leaf that a stored tree has at a path. */
function leafAt(tree: StoredTree | undefined, path: KeyPath) {
  let node = tree;
  for (const { key } of path) {
    if (node === undefined || node.kind === "leaf") return undefined;
    node = node.kind === "mapping" ? node.children.get(key) : node.children[Number(key)];
  }
  return node?.kind === "leaf" ? node.leaf : undefined;
}

const dtypeOf = (stored: { readonly kind: string; readonly array?: { readonly spec: { readonly dtype: Dtype } } }) =>
  stored.array?.spec.dtype;

function dtypesOf(nodes: readonly FlatNode<SavedLeaf>[]): Map<string, Dtype> | undefined {
  const dtypes = new Map<string, Dtype>();
  for (const node of nodes) {
    if (!("leaf" in node) || node.leaf.kind === "string" || node.leaf.kind === "scalar") continue;
    const path = leafPath(node.path.slice(1));
    if ((dtypes.get(path) ?? node.leaf.dtype) !== node.leaf.dtype) return undefined;
    dtypes.set(path, node.leaf.dtype);
  }
  return dtypes;
}

function refusedStrings(nodes: readonly FlatNode<SavedLeaf>[]): RefusedNode[] {
  const paths = new Map<string, KeyPath>();
  const texts = new Map<string, string>();
  for (const node of nodes) {
    if (!("leaf" in node) || node.leaf.kind !== "string") continue;
    paths.set(paramName(node.path), node.path);
    texts.set(paramName(node.path), node.leaf.text);
  }
  return Array.from(unsavableStrings(texts), ([name, problem]) => ({ path: paths.get(name) ?? [], problem }));
}

/** Most bytes that a chunk's indices add to its array's name: digits and a dot for each axis. */
const longestIndex = 17;

function longNames(nodes: readonly FlatNode<SavedLeaf>[]): RefusedNode[] {
  return nodes.flatMap((node) => {
    if (!("leaf" in node) || node.leaf.kind === "string") return [];
    const rest = Math.max("/.zarray".length, 1 + node.leaf.shape.length * longestIndex);
    const isLong = keyBytes(paramName(node.path)).length + rest > longestKey;
    return isLong ? [{ path: node.path.slice(0, 1), problem: "has a leaf whose keys together are too long a name" }] : [];
  });
}
