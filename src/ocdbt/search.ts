import { compareBytes, startsWithBytes } from "../bytes/compare.js";
import type { InteriorEntry, LeafEntry } from "./format/btreeNode.js";

/** What all entries of nodes have: a key, relative to the node; entries ascend by it. */
interface Keyed {
  readonly key: Uint8Array;
}

/** The leaf's entry of exactly this key. */
export function findEntry(entries: readonly LeafEntry[], key: Uint8Array): LeafEntry | undefined {
  const entry = entries[countWhile(entries, (other) => compareBytes(other.key, key) < 0)];
  return entry !== undefined && compareBytes(entry.key, key) === 0 ? entry : undefined;
}

/** The child whose subtree would hold the key: the last one that begins at or before it. */
export const findChild = (children: readonly InteriorEntry[], key: Uint8Array): InteriorEntry | undefined =>
  children[countWhile(children, (other) => compareBytes(other.key, key) <= 0) - 1];

/** The leaf's entries whose keys begin with the prefix. */
export function entriesWithin(entries: readonly LeafEntry[], prefix: Uint8Array): readonly LeafEntry[] {
  return entries.slice(
    countWhile(entries, ({ key }) => compareBytes(key, prefix) < 0),
    countWhile(entries, ({ key }) => isWithinOrBefore(key, prefix)),
  );
}

/** The children whose subtrees may hold keys that begin with the prefix. */
export function childrenWithin(children: readonly InteriorEntry[], prefix: Uint8Array): readonly InteriorEntry[] {
  const first = countWhile(children, ({ key }) => compareBytes(key, prefix) <= 0) - 1;
  return children.slice(
    Math.max(first, 0),
    countWhile(children, ({ key }) => isWithinOrBefore(key, prefix)),
  );
}

/**
 * What is left of a key, or of a prefix that is looked for, below a node that leaves out the start of its keys; `undefined`
 * where no key of the node can match.
 */
export function restBelow(wanted: Uint8Array, nodePrefix: Uint8Array): Uint8Array | undefined {
  return startsWithBytes(wanted, nodePrefix) ? wanted.subarray(nodePrefix.length) : undefined;
}

const isWithinOrBefore = (key: Uint8Array, prefix: Uint8Array) => startsWithBytes(key, prefix) || compareBytes(key, prefix) < 0;

/** How many entries at the start fulfil a condition that holds up to some entry and for none behind it. */
function countWhile<Entry extends Keyed>(entries: readonly Entry[], condition: (entry: Entry) => boolean): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const entry = entries[middle];
    if (entry !== undefined && condition(entry)) low = middle + 1;
    else high = middle;
  }
  return low;
}
