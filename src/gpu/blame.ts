/** Whom to blame for a call that fails: a leaf, and what was being done for it, as in "making its buffer". */
export interface Blame {
  readonly leaf: string;
  /** Size of the leaf's buffer in bytes. */
  readonly bytes: number;
  readonly doing: string;
}

/**
 * Blames the largest of several leaves, each with a blame of its own, and counts the others.
 * @param together as in "written with it".
 */
export function blameLargest(blames: readonly [Blame, ...Blame[]], together: string): Blame {
  const largest = blames.reduce((most, blame) => (blame.bytes > most.bytes ? blame : most), blames[0]);
  const others = new Set(blames).size - 1;
  return others === 0 ? largest : { ...largest, doing: `${largest.doing} or one of the ${others} ${together}` };
}
