/** The middle one; of an even number, the mean of the middle two. @throws RangeError for none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  const [low, high] = [sorted[sorted.length % 2 === 0 ? half - 1 : half], sorted[half]];
  if (low === undefined || high === undefined) throw new RangeError("there is no median of no values");
  return (low + high) / 2;
}

/** What several measurements of one thing say. */
export interface Summary {
  readonly median: number;
  readonly least: number;
  readonly most: number;
  readonly values: readonly number[];
}

/** @throws RangeError for no values. */
export const summarise = (values: readonly number[]): Summary => ({
  median: median(values),
  least: Math.min(...values),
  most: Math.max(...values),
  values,
});
