/** How the network did on the test images after a step. */
export interface TestResult {
  readonly step: number;
  /** Mean cross-entropy. */
  readonly loss: number;
  /** Share of the images that it read rightly. */
  readonly accuracy: number;
}

/** What the curves show. */
export interface History {
  /** The step before the first loss. */
  readonly start: number;
  /** The loss of each step's batch. */
  readonly losses: readonly number[];
  readonly tests: readonly TestResult[];
}

/** Steps that a history remembers. */
const longest = 2000;

/** A history that begins after a step. */
export const emptyHistory = (start: number): History => ({ start, losses: [], tests: [] });

/** The history with the losses of the steps that follow; the oldest are forgotten. */
export function withLosses({ start, losses, tests }: History, more: Iterable<number>): History {
  const all = [...losses, ...more];
  const forgotten = Math.max(0, all.length - longest);
  const first = start + forgotten;
  return { start: first, losses: all.slice(forgotten), tests: tests.filter(({ step }) => step >= first) };
}

/** The history with a result, in place of one of the same step. */
export const withTest = (history: History, result: TestResult): History => ({
  ...history,
  tests: [...history.tests.filter(({ step }) => step !== result.step), result],
});
