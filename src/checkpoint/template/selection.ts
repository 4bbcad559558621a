import { CheckpointValueError } from "../../errors.js";
import { type LeafInfo, leafInfos } from "../item/leafInfo.js";
import type { StoredLeaf } from "../item/leaves.js";
import { globMatcher } from "./glob.js";
import type { SelectedLeaves } from "./selectedLeaves.js";

/**
 * Which leaves to restore: a glob over their paths (`"params/**"`); several, of which one has to match and none that begins with `!` may
 * (`["params/**", "!params/head/**"]`); or a function of what is known of a leaf.
 */
export type Selection = string | readonly string[] | ((leaf: LeafInfo) => boolean);

/** Leaves that a selection looks at by paths with a prefix: an item's name, or `""`. */
export interface LeavesBelow {
  readonly prefix: string;
  readonly leaves: readonly StoredLeaf[];
}

/**
 * Finds the leaves that a selection asks for.
 * @throws CheckpointValueError where a glob, or the function, finds none: that is a mistake more often than meant.
 */
export function selectLeaves(selection: Selection, groups: readonly LeavesBelow[]): SelectedLeaves[] {
  return typeof selection === "function"
    ? selectBy(selection, groups)
    : selectMatching(typeof selection === "string" ? [selection] : selection, groups);
}

function selectBy(isWanted: (leaf: LeafInfo) => boolean, groups: readonly LeavesBelow[]): SelectedLeaves[] {
  const chosen = groups.map(({ leaves, prefix }) => {
    const infos = leafInfos(leaves, prefix);
    const isChosen = (_: unknown, index: number) => requireAnswer(isWanted(infos[index] as LeafInfo));
    return new Set(leaves.filter(({ kind }) => kind !== "empty").filter(isChosen));
  });
  if (chosen.every(({ size }) => size === 0)) throw new CheckpointValueError(`select chose none of the leaves${examples(groups)}`);
  return chosen.map((set) => ({ has: (leaf) => set.has(leaf), covers: () => true }));
}

/** A promise would choose every leaf. */
function requireAnswer<Answer>(answer: Answer): Answer {
  if (Object.prototype.toString.call(answer) !== "[object Promise]") return answer;
  throw new CheckpointValueError("select is an async function; let it answer at once, whether the leaf is wanted");
}

function selectMatching(globs: readonly string[], groups: readonly LeavesBelow[]): SelectedLeaves[] {
  const wanted = globs.filter((glob) => !glob.startsWith("!")).map((glob) => ({ glob, matches: globMatcher(glob) }));
  const unwanted = globs.filter((glob) => glob.startsWith("!")).map((glob) => globMatcher(glob.slice(1)));
  const isWanted = (path: string) =>
    (wanted.length === 0 || wanted.some(({ matches }) => matches(path))) && !unwanted.some((matches) => matches(path));
  const selected = groups.map(({ leaves, prefix }) => {
    const set = new Set(leaves.filter(({ path }) => isWanted(joined(prefix, path))));
    return { has: (leaf: StoredLeaf) => set.has(leaf), covers: (path: string) => isWanted(joined(prefix, path)), isEmpty: set.size === 0 };
  });
  const paths = groups.flatMap(({ leaves, prefix }) => leaves.map(({ path }) => joined(prefix, path)));
  const idle = wanted.filter(({ matches }) => !paths.some(matches)).map(({ glob }) => glob);
  if (idle.length > 0) {
    const quoted = idle.map((glob) => JSON.stringify(glob)).join(", ");
    throw new CheckpointValueError(`no leaf matches ${quoted} of select${hintBelow(idle, paths) ?? examples(groups)}`);
  }
  if (selected.every(({ isEmpty }) => isEmpty)) throw new CheckpointValueError(`select leaves none of the leaves${examples(groups)}`);
  return selected;
}

/** Where a glob names a node: the one for the leaves below it. */
function hintBelow(idle: readonly string[], paths: readonly string[]): string | undefined {
  const node = idle.map((glob) => `${glob.replace(/\/+$/, "")}/**`).find((glob) => paths.some(globMatcher(glob)));
  return node && `; ${JSON.stringify(node)} matches the leaves below it`;
}

const joined = (prefix: string, path: string): string => (prefix === "" || path === "" ? prefix + path : `${prefix}/${path}`);

/** Paths that errors name. */
const mostExamples = 5;

function examples(groups: readonly LeavesBelow[]): string {
  const paths = groups.flatMap(({ leaves, prefix }) => leaves.map(({ path }) => joined(prefix, path)));
  if (paths.length === 0) return "; there are none";
  const named = paths.slice(0, mostExamples).map((path) => JSON.stringify(path.slice(0, 200)));
  return `; their paths are ${named.join(", ")}${paths.length > named.length ? ` and ${paths.length - named.length} more` : ""}`;
}
