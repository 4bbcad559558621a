import type { KeyPath, PathKey } from "../../pytree/keyPath.js";
import type { StateLeaf } from "../../pytree/msgpack/stateLeaf.js";
import type { TreeNode } from "../../pytree/tree.js";
import type { TreeEntry, ValueType } from "../../pytree/treeMetadata.js";

/** Leaves of a state file by the entries that stand for them. */
export type StateEntries = ReadonlyMap<TreeEntry, StateLeaf>;

/** Makes entries of all leaves and empty nodes of a state file, in its order. */
export function entriesOfState(tree: TreeNode<StateLeaf>): StateEntries {
  const entries = new Map<TreeEntry, StateLeaf>();
  const collect = (node: TreeNode<StateLeaf>, path: KeyPath) => {
    if (node.kind === "leaf") {
      entries.set({ path, valueType: valueTypeOf(node.leaf), skipDeserialize: node.leaf.kind !== "stored" }, node.leaf);
      return;
    }
    for (const [key, child] of node.children.entries()) collect(child, [...path, { key: String(key), kind: node.kind } satisfies PathKey]);
  };
  collect(tree, []);
  return entries;
}

/** What is known of a value without `_METADATA`. */
function valueTypeOf(leaf: StateLeaf): ValueType {
  switch (leaf.kind) {
    case "array":
      return leaf.isScalar ? "scalar" : "np.ndarray";
    case "number":
      return "scalar";
    case "string":
      return "string";
    case "stored":
      return "np.ndarray";
    case "empty":
      return leaf.valueType;
    default:
      return leaf satisfies never;
  }
}

/** The leaf at a path; undefined where none is. */
export function leafAt(tree: TreeNode<StateLeaf>, path: KeyPath): StateLeaf | undefined {
  let node: TreeNode<StateLeaf> | undefined = tree;
  for (const { key } of path) {
    if (node?.kind === "mapping") node = node.children.get(key);
    else node = node?.kind === "sequence" && /^\d+$/.test(key) ? node.children[Number(key)] : undefined;
  }
  return node?.kind === "leaf" ? node.leaf : undefined;
}
