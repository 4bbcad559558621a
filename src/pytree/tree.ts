import { setMember } from "../bytes/json.js";
import { CorruptCheckpointError } from "../errors.js";
import { type KeyPath, leafPath, type PathKey } from "./keyPath.js";

/** A tree of leaves; children of a mapping by name, of a sequence by index. */
export type TreeNode<Leaf> =
  | { readonly kind: "leaf"; readonly leaf: Leaf }
  | { readonly kind: "mapping"; readonly children: ReadonlyMap<string, TreeNode<Leaf>> }
  | { readonly kind: "sequence"; readonly children: readonly TreeNode<Leaf>[] };

/** Leaves with their paths, in tree order. */
export type PathLeaf<Leaf> = { readonly path: KeyPath; readonly leaf: Leaf };

/**
 * Builds the tree that the paths describe. A leaf whose path begins another's is dropped, as Orbax does after partial saves.
 * @param file names the source of the paths in errors.
 * @throws CorruptCheckpointError for list indices with gaps, siblings of both kinds, two equal paths, and no leaf at all.
 */
export function buildTree<Leaf>(leaves: readonly PathLeaf<Leaf>[], file: string): TreeNode<Leaf> {
  const builder = new TreeBuilder<Leaf>(file);
  for (const { path, leaf } of leaves) builder.add(path, leaf);
  return builder.finish();
}

/** As {@link buildTree}, leaf by leaf. */
export class TreeBuilder<Leaf> {
  readonly #file: string;
  readonly #root: Draft<Leaf> = {};

  constructor(file: string) {
    this.#file = file;
  }

  add(path: KeyPath, leaf: Leaf): void {
    place(this.#root, path, leaf, this.#file);
  }

  finish(): TreeNode<Leaf> {
    return finish(this.#root, undefined, this.#file);
  }
}

/** A node while leaves still come; only one with children has a map. */
interface Draft<Leaf> {
  kind?: PathKey["kind"];
  leaf?: { readonly value: Leaf };
  children?: Map<string, Draft<Leaf>>;
}

function place<Leaf>(root: Draft<Leaf>, path: KeyPath, leaf: Leaf, file: string): void {
  let node = root;
  for (const { key, kind } of path) {
    if (node.kind !== undefined && node.kind !== kind) fail(file, path, "keys of one kind", "list indices beside member names");
    node.kind = kind;
    node.children ??= new Map();
    const child: Draft<Leaf> = node.children.get(key) ?? {};
    node.children.set(key, child);
    node = child;
  }
  if (node.leaf !== undefined) fail(file, path, "each path once", "it twice");
  node.leaf = { value: leaf };
}

/** Where a node stands; put together for errors only. */
interface Place extends PathKey {
  readonly above: Place | undefined;
}

const pathOf = (place: Place | undefined): KeyPath => (place === undefined ? [] : [...pathOf(place.above), place]);

function finish<Leaf>({ kind, children, leaf }: Draft<Leaf>, place: Place | undefined, file: string): TreeNode<Leaf> {
  if (kind === undefined || children === undefined) {
    return leaf === undefined
      ? fail(file, pathOf(place), "a leaf or an empty node", "a tree without entries")
      : { kind: "leaf", leaf: leaf.value };
  }
  const below = (child: Draft<Leaf>, key: string) => finish(child, { key, kind, above: place }, file);
  if (kind === "mapping") {
    const finished = new Map<string, TreeNode<Leaf>>();
    for (const [key, child] of children) finished.set(key, below(child, key));
    return { kind, children: finished };
  }
  return {
    kind,
    children: Array.from({ length: children.size }, (_, index) => {
      const child = children.get(String(index));
      if (child === undefined)
        return fail(file, pathOf(place), `list indices 0 to ${children.size - 1}`, [...children.keys()].slice(0, 20).join(", "));
      return below(child, String(index));
    }),
  };
}

function fail(file: string, path: KeyPath, expected: string, received: string): never {
  const place = path.length === 0 ? "the root" : JSON.stringify(leafPath(path));
  throw new CorruptCheckpointError({ path: file, expected: `${expected} at ${place}`, received });
}

/** Nested objects and arrays with the value of each leaf; `__proto__` is a member like any other. */
export function plainTree<Leaf, Value>(node: TreeNode<Leaf>, read: (leaf: Leaf) => Value): unknown {
  switch (node.kind) {
    case "leaf":
      return read(node.leaf);
    case "sequence":
      return node.children.map((child) => plainTree(child, read));
    case "mapping": {
      const object: Record<string, unknown> = {};
      for (const [key, child] of node.children) setMember(object, key, plainTree(child, read));
      return object;
    }
    default:
      return node satisfies never;
  }
}

/** All leaves below a node, in tree order. */
export function leavesOf<Leaf>(node: TreeNode<Leaf>): Leaf[] {
  const leaves: Leaf[] = [];
  collect(node, leaves);
  return leaves;
}

function collect<Leaf>(node: TreeNode<Leaf>, leaves: Leaf[]): void {
  if (node.kind === "leaf") leaves.push(node.leaf);
  else for (const child of node.children.values()) collect(child, leaves);
}
