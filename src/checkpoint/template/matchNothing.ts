import type { TreeMismatch } from "../../errors.js";
import type { TreeNode } from "../../pytree/tree.js";
import { type EmptyLeaf, emptyValue, type StoredLeaf, type StoredTree } from "../item/leaves.js";
import { everyLeaf, type SelectedLeaves } from "./selectedLeaves.js";
import type { TemplateLeaf } from "./template.js";

/** What one leaf of the restored tree is made of. */
export type MatchedLeaf =
  | { readonly kind: "stored"; readonly leaf: Exclude<StoredLeaf, EmptyLeaf>; readonly wanted: TemplateLeaf | undefined }
  /** An empty node, or a leaf that the template skips. */
  | { readonly kind: "given"; readonly value: unknown };

/** A stored tree matched with a template, and every place where they differ. */
export interface MatchedItem {
  readonly item: string;
  /** Without the places that are left out; undefined where all are. */
  readonly tree: TreeNode<MatchedLeaf> | undefined;
  readonly mismatches: readonly TreeMismatch[];
}

/** How much of a tree and its template has to be there. */
export interface MatchScope {
  /** Leaves that are asked for: others are left out, and nothing is said about them. */
  readonly selected: SelectedLeaves;
  /** What becomes of leaves that only the tree or only the template has: they are reported, or left out. */
  readonly missing: "error" | "skip";
}

/** All of a tree and its template. */
export const everything: MatchScope = { selected: everyLeaf, missing: "error" };

/** Without a template everything comes back as stored. */
export const matchNothing = (item: string, stored: StoredTree, { selected }: MatchScope = everything): MatchedItem => ({
  item,
  tree: asStored(stored, selected),
  mismatches: [],
});

function asStored(node: StoredTree, selected: SelectedLeaves): TreeNode<MatchedLeaf> | undefined {
  switch (node.kind) {
    case "leaf":
      if (!selected.has(node.leaf)) return undefined;
      return { kind: "leaf", leaf: storedAs(node.leaf) };
    case "sequence":
      return sequenceOf(node.children.map((child) => asStored(child, selected)));
    case "mapping":
      return mappingOf(node.children, (_, child) => asStored(child, selected));
    default:
      return node satisfies never;
  }
}

const storedAs = (leaf: StoredLeaf): MatchedLeaf =>
  leaf.kind === "empty" ? { kind: "given", value: emptyValue(leaf) } : { kind: "stored", leaf, wanted: undefined };

/** A list keeps its places: where something is left out stands `null`. */
export const sequenceOf = (children: readonly (TreeNode<MatchedLeaf> | undefined)[]): TreeNode<MatchedLeaf> | undefined =>
  children.every((child) => child === undefined) ? undefined : { kind: "sequence", children: children.map((child) => child ?? skipped) };

/** A dict has no members for what is left out. */
export function mappingOf<Child>(
  children: ReadonlyMap<string, Child>,
  match: (key: string, child: Child) => TreeNode<MatchedLeaf> | undefined,
): TreeNode<MatchedLeaf> | undefined {
  const matched = new Map<string, TreeNode<MatchedLeaf>>();
  for (const [key, child] of children) {
    const node = match(key, child);
    if (node !== undefined) matched.set(key, node);
  }
  return matched.size === 0 ? undefined : { kind: "mapping", children: matched };
}

/** What stands for a leaf that is left out where something has to stand. */
export const skipped: TreeNode<MatchedLeaf> = { kind: "leaf", leaf: { kind: "given", value: null } };
