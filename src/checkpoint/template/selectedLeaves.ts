import type { StoredLeaf } from "../item/leaves.js";

/** The leaves that are asked for. */
export interface SelectedLeaves {
  /** Whether a stored leaf is; an empty node is where globs match its path. */
  has(leaf: StoredLeaf): boolean;
  /** Whether a leaf that is only in a template would be: a function, which cannot be asked about it, does not excuse it. */
  covers(path: string): boolean;
}

/** All of them. */
export const everyLeaf: SelectedLeaves = { has: () => true, covers: () => true };
