import { kindOf } from "../arguments.js";
import { compareText } from "../bytes/compareText.js";
import { type KeyPath, type PathKey, paramName } from "./keyPath.js";
import type { PathLeaf } from "./tree.js";

/** A container without children, or Python's `None`, as `_METADATA` names it. */
export type EmptyKind = "None" | "Dict" | "List";

/** What stands at a path of a tree: a leaf, or nothing. */
export type FlatNode<Leaf> = PathLeaf<Leaf> | { readonly path: KeyPath; readonly empty: EmptyKind };

/** A part of a tree that cannot be stored. */
export interface RefusedNode {
  readonly path: KeyPath;
  /** What is wrong, as the rest of a sentence that begins with the path. */
  readonly problem: string;
}

/** A tree as Orbax stores it. */
export interface FlatTree<Leaf> {
  /** In tree order: members of objects by name, as JAX sorts them, elements of arrays by index. */
  readonly nodes: readonly FlatNode<Leaf>[];
  /** Empty where all of the tree can be stored. */
  readonly refused: readonly RefusedNode[];
}

/**
 * Lists all that stands in a tree of arrays and plain objects; `null` is a `None`. Leaves of one param name are refused: Orbax joins the
 * keys of a path with dots, and would store only one of them.
 * @param leafOf says what is a leaf; it may name what cannot be one.
 */
export function flattenTree<Leaf>(tree: unknown, leafOf: (value: unknown, path: KeyPath) => Leaf | Refusal | undefined): FlatTree<Leaf> {
  const nodes: FlatNode<Leaf>[] = [];
  const refused: RefusedNode[] = [];
  const visit = (value: unknown, path: KeyPath): void => {
    const found = value === null ? undefined : leafOf(value, path);
    if (found instanceof Refusal) refused.push({ path, problem: found.problem });
    else if (found !== undefined) nodes.push({ path, leaf: found });
    else visitContainer(value, path);
  };
  const visitContainer = (value: unknown, path: KeyPath): void => {
    const children = childrenOf(value);
    if (typeof children === "string") nodes.push({ path, empty: children });
    else if (children instanceof Refusal) refused.push({ path, problem: children.problem });
    else if (path.length >= longestPath) refused.push({ path, problem: `nests deeper than ${longestPath}; does it hold itself?` });
    else for (const [key, child] of children) visit(child, [...path, key]);
  };
  visit(tree, []);
  return { nodes, refused: [...refused, ...sharedNames(nodes)] };
}

/** Why a value cannot be stored, as the rest of a sentence. */
export class Refusal {
  readonly problem: string;

  constructor(problem: string) {
    this.problem = problem;
  }
}

/** Most keys of a path, as readers take it. */
const longestPath = 512;

function childrenOf(value: unknown): readonly (readonly [PathKey, unknown])[] | EmptyKind | Refusal {
  if (value === null) return "None";
  if (Array.isArray(value)) {
    if (value.length === 0) return "List";
    return Array.from(value, (element: unknown, index) => [{ key: String(index), kind: "sequence" }, element]);
  }
  const kind = kindOf(value);
  if (!isPlainObject(value))
    return new Refusal(`is ${kind === "an object" ? "an instance of a class" : kind}, which no checkpoint can hold`);
  const members = Object.entries(value);
  if (members.length === 0) return "Dict";
  const broken = members.find(([key]) => halfSurrogate.test(key));
  if (broken !== undefined) return new Refusal(`has a key ${JSON.stringify(broken[0])} with half a surrogate pair, which is no UTF-8`);
  return members.sort(([a], [b]) => compareText(a, b)).map(([key, child]) => [{ key, kind: "mapping" }, child]);
}

const halfSurrogate = /\p{Surrogate}/u;

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // One of another realm has a prototype without one, too.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Leaves whose param names are those of others. */
function sharedNames<Leaf>(nodes: readonly FlatNode<Leaf>[]): RefusedNode[] {
  const paths = new Map<string, KeyPath>();
  const refused: RefusedNode[] = [];
  for (const node of nodes) {
    if ("empty" in node) continue;
    const name = paramName(node.path);
    const other = paths.get(name);
    if (other === undefined) paths.set(name, node.path);
    else
      refused.push({
        path: node.path,
        problem: `has the same name on disk, ${JSON.stringify(name)}, as ${JSON.stringify(other.map(({ key }) => key))}`,
      });
  }
  return refused;
}
