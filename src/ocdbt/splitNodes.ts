import { commonPrefixLength } from "../bytes/compare.js";

/** How many entries of one height make a node. */
interface NodeRule {
  /** Most bytes of a node, by TensorStore's estimate; at least 1. */
  readonly limit: number;
  /** Least entries of a node, but for the last one of its height. */
  readonly least: number;
  /** Most entries of a node. */
  readonly most: number;
}

/** Most bytes of all keys of a root, which leaves nothing out of them: readers hold them in memory, and refuse many more. */
const mostRootKeyBytes = 64 * 1024 * 1024;

/**
 * Parts the entries of one height into nodes of about the same size, as few as the limit allows; gives where each begins and ends.
 * These are the nodes that TensorStore makes (BtreeNodeEncoder::Finalize), unless those would be too large for readers.
 * @param entries ascend by their keys.
 * @param sizes of the entries without their keys, in bytes.
 */
export function* splitNodes(
  entries: readonly { readonly key: Uint8Array }[],
  sizes: readonly number[],
  rule: NodeRule,
): Generator<readonly [start: number, end: number]> {
  const sizeOf = sizesOfRuns(entries, sizes);
  const count = entries.length;
  const keyBytes = entries.reduce((sum, { key }) => sum + key.length, 0);
  for (let start = 0; start < count; ) {
    const whole = sizeOf(start, count);
    const leastNodes = start === 0 && keyBytes > mostRootKeyBytes ? 2 : 1;
    const nodes = Math.max(leastNodes, Math.ceil((count - start) / rule.most), Math.ceil(whole / rule.limit));
    const end = endOfNode(start, count, Math.ceil(whole / nodes), sizeOf, rule);
    yield [start, end];
    start = end;
  }
}

type RunSize = (start: number, end: number) => number;

function endOfNode(start: number, count: number, target: number, sizeOf: RunSize, { limit, least, most }: NodeRule): number {
  let end = start + 1;
  while (end < count && end - start < most && (end - start < least || sizeOf(start, end) < target)) end++;
  // The entry that reached the target may be one too many.
  const isTooLarge = end < count && end - start > least && sizeOf(start, end) > limit;
  return isTooLarge ? end - 1 : end;
}

/** The estimated size of a node: what all keys of the height begin with counts once. */
function sizesOfRuns(entries: readonly { readonly key: Uint8Array }[], sizes: readonly number[]): RunSize {
  const nothing = new Uint8Array();
  const shared = commonPrefixLength(entries[0]?.key ?? nothing, entries.at(-1)?.key ?? nothing);
  const sums = [0];
  for (const [index, { key }] of entries.entries()) sums.push((sums[index] ?? 0) + (sizes[index] ?? 0) + key.length);
  return (start, end) => (sums[end] ?? 0) - (sums[start] ?? 0) - (end - start - 1) * shared;
}
