import { CheckpointValueError, type TreeMismatch } from "../../errors.js";
import { leavesOf, type TreeNode } from "../../pytree/tree.js";
import type { EmptyLeaf, StoredLeaf, StoredTree } from "../item/leaves.js";
import { describeStored, describeTemplate } from "./describe.js";
import { everything, type MatchedItem, type MatchedLeaf, type MatchScope, mappingOf, sequenceOf, skipped } from "./matchNothing.js";
import { requireDepth, templateLeaf } from "./template.js";

/**
 * Walks a stored tree and a template together, as substrax and Orbax compare them: the members must be the same, a list is no dict, empty
 * containers and `null` stand for one another, and `null` in place of a leaf skips it. Shapes and dtypes are left to the plan.
 */
export function matchTemplate(item: string, stored: StoredTree, template: unknown, scope: MatchScope = everything): MatchedItem {
  const mismatches: TreeMismatch[] = [];
  const tree = new TemplateMatcher(item, mismatches, scope).match(stored, template, []);
  const selected = tree === undefined && mismatches.length === 0 ? leavesOf(stored).filter((leaf) => scope.selected.has(leaf)) : [];
  if (selected.length > 0)
    mismatches.push({ item, leaf: "", problem: "missing", expected: "only leaves that are not stored", received: named(selected) });
  return { item, tree, mismatches };
}

const mostNamed = 5;

/** Some of the leaves, by their paths. */
function named(leaves: readonly StoredLeaf[]): string {
  const paths = leaves.slice(0, mostNamed).map(({ path }) => JSON.stringify(path.slice(0, 200)));
  return `${paths.join(", ")}${leaves.length > paths.length ? ` and ${leaves.length - paths.length} more` : ""}`;
}

class TemplateMatcher {
  readonly #item: string;
  readonly #mismatches: TreeMismatch[];
  readonly #scope: MatchScope;

  constructor(item: string, mismatches: TreeMismatch[], scope: MatchScope) {
    this.#item = item;
    this.#mismatches = mismatches;
    this.#scope = scope;
  }

  /** Undefined for what is left out. */
  match(stored: TreeNode<StoredLeaf>, template: unknown, path: readonly string[]): TreeNode<MatchedLeaf> | undefined {
    if (template === undefined && this.#scope.missing === "skip") return undefined;
    switch (stored.kind) {
      case "leaf":
        if (!this.#scope.selected.has(stored.leaf)) return undefined;
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

  #matchLeaf(leaf: Exclude<StoredLeaf, EmptyLeaf>, template: unknown, path: readonly string[]): TreeNode<MatchedLeaf> | undefined {
    if (template === null) return skipped;
    const wanted = templateLeaf(template);
    if (wanted !== undefined) return { kind: "leaf", leaf: { kind: "stored", leaf, wanted } };
    refuseUnmarkedStruct(template, [this.#item, ...path].join("/"));
    return this.#differ({ kind: "leaf", leaf }, template, path);
  }

  /** As long as the template's list: what is stored beyond it, and not reported, is left out. */
  #matchSequence(
    children: readonly TreeNode<StoredLeaf>[],
    template: readonly unknown[],
    path: readonly string[],
  ): TreeNode<MatchedLeaf> | undefined {
    for (let index = children.length; index < template.length; index++) this.#onlyInTemplate(template[index], [...path, String(index)]);
    const matched = children.map((child, index) => this.match(child, template[index], [...path, String(index)]));
    return sequenceOf(template.map((_, index) => matched[index]));
  }

  #matchMapping(
    children: ReadonlyMap<string, TreeNode<StoredLeaf>>,
    template: Readonly<Record<string, unknown>>,
    path: readonly string[],
  ): TreeNode<MatchedLeaf> | undefined {
    for (const key of Object.keys(template)) if (!children.has(key)) this.#onlyInTemplate(template[key], [...path, key]);
    const below = (key: string, child: TreeNode<StoredLeaf>) =>
      this.match(child, Object.hasOwn(template, key) ? template[key] : undefined, [...path, key]);
    return mappingOf(children, below);
  }

  /** Nothing below this place matches: every stored leaf is unexpected, every leaf of the template is missing. */
  #differ(stored: TreeNode<StoredLeaf>, template: unknown, path: readonly string[]): undefined {
    const leaves = leavesOf(stored).filter((leaf) => this.#scope.selected.has(leaf));
    const expected = template === null ? "null for all of it" : "nothing there";
    for (const leaf of leaves)
      this.#mismatches.push({ item: this.#item, leaf: leaf.path, problem: "unexpected", expected, received: describeStored(leaf) });
    if (leaves.length > 0 && template !== null) this.#missing(template, path);
  }

  #onlyInTemplate(template: unknown, path: readonly string[]): void {
    if (this.#scope.missing === "error") this.#missing(template, path);
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
    const leaf = path.join("/");
    if (this.#scope.selected.covers(leaf)) this.#mismatches.push({ item: this.#item, leaf, problem, expected, received });
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
