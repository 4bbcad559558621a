/** A run of bytes of a file: `length` bytes from byte `offset`. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** First byte after the range. */
export const endOf = ({ offset, length }: ByteRange): number => offset + length;

/** Neighbouring ranges that are read together, with the members it serves. */
export interface MergedRange<Member extends ByteRange> extends ByteRange {
  readonly members: readonly Member[];
}

/** When two ranges of one file are read as one. */
export interface MergeRule {
  /** Most bytes between two ranges that are read and thrown away, in bytes. */
  readonly largestGap: number;
  /** Most bytes of one merged range; a single longer range stays whole. */
  readonly longestRun: number;
}

/** The rule that HTTP reads and restores share: fewer requests are worth 64 KiB, and 8 MiB keep six requests within the budget. */
export const defaultMergeRule: MergeRule = { largestGap: 64 * 1024, longestRun: 8 * 1024 * 1024 };

/** Merges ranges of one file into as few runs as the rule allows, in ascending order. */
export function mergeRanges<Member extends ByteRange>(
  ranges: readonly Member[],
  rule: MergeRule = defaultMergeRule,
): MergedRange<Member>[] {
  const runs: { offset: number; length: number; members: Member[] }[] = [];
  for (const range of [...ranges].sort((a, b) => a.offset - b.offset)) {
    const run = runs.at(-1);
    const end = Math.max(run === undefined ? 0 : endOf(run), endOf(range));
    if (run !== undefined && range.offset - endOf(run) <= rule.largestGap && end - run.offset <= rule.longestRun) {
      run.length = end - run.offset;
      run.members.push(range);
    } else {
      runs.push({ offset: range.offset, length: range.length, members: [range] });
    }
  }
  return runs;
}
