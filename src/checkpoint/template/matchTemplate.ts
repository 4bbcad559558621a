import { CheckpointValueError, type TreeMismatch } from "../../errors.js";
import { leavesOf, type TreeNode } from "../../pytree/tree.js";
import { type EmptyLeaf, emptyValue, type StoredLeaf, type StoredTree } from "../item/leaves.js";
import { requireDepth, type TemplateLeaf, templateLeaf } from "./template.js";

/** What one leaf of the restored tree is made of. */
export type MatchedLeaf =
  | { readonly kind: "stored"; readonly leaf: Exclude<StoredLeaf, EmptyLeaf>; readonly wanted: TemplateLeaf | undefined }
  /** An empty node, or a leaf that the template skips. */
  | { readonly kind: "given"; readonly value: unknown };

/** A stored tree matched with a template, and every place where they differ. */
export interface MatchedItem {
  readonly item: string;
  readonly tree: TreeNode<MatchedLeaf>;
  readonly mismatches: readonly TreeMismatch[];
}

/** Without a template everything comes back as stored. */
export const matchNothing = (item: string, stored: StoredTree): MatchedItem => ({
  item,
  tree: mapLeaves(stored, (leaf) =>
    leaf.kind === "empty" ? { kind: "given", value: emptyValue(leaf) } : { kind: "stored", leaf, wanted: undefined },
  ),
  mismatches: [],
});

function mapLeaves<Leaf, Mapped>(node: TreeNode<Leaf>, map: (leaf: Leaf) => Mapped): TreeNode<Mapped> {
  switch (node.kind) {
    case "leaf":
      return { kind: "leaf", leaf: map(node.leaf) };
    case "sequence":
      return { kind: "sequence", children: node.children.map((child) => mapLeaves(child, map)) };
    case "mapping":
      return { kind: "mapping", children: mapped(node.children, (_, child) => mapLeaves(child, map)) };
    default:
      return node satisfies never;
  }
}

function mapped<Child, Mapped>(children: ReadonlyMap<string, Child>, map: (key: string, child: Child) => Mapped): Map<string, Mapped> {
  const result = new Map<string, Mapped>();
  for (const [key, child] of children) result.set(key, map(key, child));
  return result;
}

/**
 * Walks a stored tree and a template together, as substrax and Orbax compare them: the members must be the same, a list is no dict, empty
 * containers and `null` stand for one another, and `null` in place of a leaf skips it. Shapes and dtypes are left to the plan.
 */
export function matchTemplate(item: string, stored: StoredTree, template: unknown): MatchedItem {
  const mismatches: TreeMismatch[] = [];
  const matcher = new TemplateMatcher(item, mismatches);
  return { item, tree: matcher.match(stored, template, []), mismatches };
}

const skipped: TreeNode<MatchedLeaf> = { kind: "leaf", leaf: { kind: "given", value: null } };

class TemplateMatcher {
  readonly #item: string;
  readonly #mismatches: TreeMismatch[];

  constructor(item: string, mismatches: TreeMismatch[]) {
    this.#item = item;
    this.#mismatches = mismatches;
  }

  match(stored: TreeNode<StoredLeaf>, template: unknown, path: readonly string[]): TreeNode<MatchedLeaf> {
    switch (stored.kind) {
      case "leaf":
        return stored.leaf.kind === "empty" ? this.#matchEmpty(template, path) : this.#matchLeaf(stored.leaf, template, path);
      case "sequence":
        return Array.isArray(template) ? this.#matchSequence(stored.children, template, path) : this.#differ(stored, template, path);
      case "mapping":
        return isMapping(template, stored.children)
          ? this.#matchMapping(stored.children, template, path)
          : this.#differ(stored, template, path);
      default:
        return stored satisfies never;
    }
  }

  /** An empty node takes any empty template, and an array too, whose value is then `null`. */
  #matchEmpty(template: unknown, path: readonly string[]): TreeNode<MatchedLeaf> {
    if (templateLeaf(template) !== undefined || template === null) return skipped;
    if (template !== undefined && !isEmptyContainer(template)) {
      this.#missing(template, path);
      return skipped;
    }
    if (template === undefined) this.#add(path, "unexpected", "nothing", "an empty node");
    return { kind: "leaf", leaf: { kind: "given", value: Array.isArray(template) ? [] : {} } };
  }

  #matchLeaf(leaf: Exclude<StoredLeaf, EmptyLeaf>, template: unknown, path: readonly string[]): TreeNode<MatchedLeaf> {
    if (template === null) return skipped;
    const wanted = templateLeaf(template);
    if (wanted !== undefined) return { kind: "leaf", leaf: { kind: "stored", leaf, wanted } };
    refuseUnmarkedStruct(template, [this.#item, ...path].join("/"));
    return this.#differ({ kind: "leaf", leaf }, template, path);
  }

  #matchSequence(children: readonly TreeNode<StoredLeaf>[], template: readonly unknown[], path: readonly string[]): TreeNode<MatchedLeaf> {
    for (let index = children.length; index < template.length; index++) this.#missing(template[index], [...path, String(index)]);
    return { kind: "sequence", children: children.map((child, index) => this.match(child, template[index], [...path, String(index)])) };
  }

  #matchMapping(
    children: ReadonlyMap<string, TreeNode<StoredLeaf>>,
    template: Readonly<Record<string, unknown>>,
    path: readonly string[],
  ): TreeNode<MatchedLeaf> {
    for (const key of Object.keys(template)) if (!children.has(key)) this.#missing(template[key], [...path, key]);
    const below = (key: string, child: TreeNode<StoredLeaf>) =>
      this.match(child, Object.hasOwn(template, key) ? template[key] : undefined, [...path, key]);
    return { kind: "mapping", children: mapped(children, below) };
  }

  /** Nothing below this place matches: every stored leaf is unexpected, every leaf of the template is missing. */
  #differ(stored: TreeNode<StoredLeaf>, template: unknown, path: readonly string[]): TreeNode<MatchedLeaf> {
    const expected = template === null ? "null for all of it" : "nothing there";
    for (const leaf of leavesOf(stored))
      this.#mismatches.push({ item: this.#item, leaf: leaf.path, problem: "unexpected", expected, received: describeStored(leaf) });
    if (template !== null && template !== undefined) this.#missing(template, path);
    return skipped;
  }

  #missing(template: unknown, path: readonly string[]): void {
    if (template === undefined) return;
    requireDepth(path.length);
    const leaf = templateLeaf(template);
    if (leaf !== undefined || template === null || isEmptyContainer(template)) {
      this.#add(path, "missing", leaf === undefined ? "an empty node" : describeTemplate(leaf), "nothing");
    } else if (typeof template === "object") {
      for (const [key, value] of Object.entries(template)) this.#missing(value, [...path, key]);
    } else {
      this.#add(path, "missing", `a ${typeof template}`, "nothing");
    }
  }

  #add(path: readonly string[], problem: TreeMismatch["problem"], expected: string, received: string): void {
    this.#mismatches.push({ item: this.#item, leaf: path.join("/"), problem, expected, received });
  }
}

/** A copy of a struct, as postMessage and JSON make it, looks like a dict with two members. */
function refuseUnmarkedStruct(template: unknown, place: string): void {
  if (typeof template !== "object" || template === null || !("shape" in template && "dtype" in template)) return;
  throw new CheckpointValueError(
    `${place}: an object with shape and dtype is no template; make it with shapeDtypeStruct(shape, dtype), whose mark postMessage and JSON lose`,
  );
}

/** Whether a template stands for a dict: also one that looks like an array, where a dict with just such members is stored. */
const isMapping = (template: unknown, children: ReadonlyMap<string, unknown>): template is Readonly<Record<string, unknown>> =>
  typeof template === "object" &&
  template !== null &&
  !Array.isArray(template) &&
  !ArrayBuffer.isView(template) &&
  (Array.from(children.keys()).every((key) => Object.hasOwn(template, key)) || templateLeaf(template) === undefined);

const isEmptyContainer = (template: unknown): boolean =>
  typeof template === "object" && template !== null && !ArrayBuffer.isView(template) && Object.keys(template).length === 0;

/** A stored leaf in a few words, for errors. */
export function describeStored(leaf: StoredLeaf): string {
  switch (leaf.kind) {
    case "string":
      return "a string";
    case "empty":
      return "an empty node";
    case "scalar":
      return `a Python number (${leaf.array.spec.dtype})`;
    default: {
      const array = `${leaf.array.spec.dtype}[${leaf.array.spec.shape.join(", ")}]`;
      return leaf.keyImpl === undefined ? array : `a ${leaf.keyImpl} key with data ${array}`;
    }
  }
}

/** A template's leaf in a few words, for errors. */
export function describeTemplate(leaf: TemplateLeaf): string {
  switch (leaf.kind) {
    case "array":
      return `${leaf.dtype}[${leaf.shape.join(", ")}]`;
    case "key":
      return `a ${leaf.impl} key with data ${describeTemplate(leaf.data)}`;
    case "plain":
      return `a ${typeof leaf.value === "object" ? "complex number" : typeof leaf.value}`;
    default:
      return leaf satisfies never;
  }
}
