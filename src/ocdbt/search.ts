import type { ByteStrings } from "../bytes/byteStrings.js";
import { compareBytes, startsWithBytes } from "../bytes/compare.js";
import type { InteriorEntry } from "./format/btreeNode.js";

/**
 * Which of a leaf's keys is `key` without its first `from` bytes, which the node leaves out.
 * @param near where it is looked for first: keys that are wanted together mostly follow one another.
 */
export function findKey(keys: ByteStrings, key: Uint8Array, from = 0, near = 0): number | undefined {
  let low = 0;
  let high = keys.length;
  let reach = 1;
  for (let probe = Math.min(near, high - 1); low < high; ) {
    const order = keys.compare(probe, key, from);
    if (order === 0) return probe;
    if (order < 0) low = probe + 1;
    else high = probe;
    // From `near` on in ever longer steps, then by halves.
    probe = order < 0 && low + reach < high && reach > 0 ? low + reach - 1 : (low + high) >>> 1;
    reach = order < 0 ? reach * 2 : 0;
  }
  return undefined;
}

/** The child whose subtree would hold the key: the last one that begins at or before it. */
export const findChild = (children: readonly InteriorEntry[], key: Uint8Array): InteriorEntry | undefined =>
  children[countFirst(children, (other) => compareBytes(other.key, key) <= 0) - 1];

/** The leaf's keys that begin with the prefix. */
export function keysWithin(keys: ByteStrings, prefix: Uint8Array): Uint8Array[] {
  const first = countWhile(keys.length, (index) => keys.compare(index, prefix) < 0);
  const end = countWhile(keys.length, (index) => isWithinOrBefore(keys.at(index), prefix));
  return Array.from({ length: end - first }, (_, index) => keys.at(first + index));
}

/** The children whose subtrees may hold keys that begin with the prefix. */
export function childrenWithin(children: readonly InteriorEntry[], prefix: Uint8Array): readonly InteriorEntry[] {
  const first = countFirst(children, ({ key }) => compareBytes(key, prefix) <= 0) - 1;
  return children.slice(
    Math.max(first, 0),
    countFirst(children, ({ key }) => isWithinOrBefore(key, prefix)),
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

const countFirst = (children: readonly InteriorEntry[], condition: (child: InteriorEntry) => boolean): number =>
  countWhile(children.length, (index) => {
    const child = children[index];
    return child !== undefined && condition(child);
  });

/** How many of `count` at the start fulfil a condition that holds up to some and for none behind it. */
function countWhile(count: number, condition: (index: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (condition(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
