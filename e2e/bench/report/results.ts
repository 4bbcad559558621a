import type { Measurements } from "../measurements.js";
import type { Row } from "../rows.js";

/** A row as it came out. */
export interface RowResult {
  readonly row: Row;
  /** Undefined where something that it needs could not be measured. */
  readonly value: number | undefined;
}

export type Verdict = "aim met" | "met" | "not met" | "not measured";

export const resultOf = (row: Row, measured: Measurements): RowResult => {
  try {
    return { row, value: row.value(measured) };
  } catch (error) {
    if (error instanceof RangeError) return { row, value: undefined };
    throw error;
  }
};

export function verdictOf({ row: { better, required, aim }, value }: RowResult): Verdict {
  if (value === undefined) return "not measured";
  const reaches = (goal: number) => (better === "lower" ? value <= goal : value >= goal);
  return reaches(aim) ? "aim met" : reaches(required) ? "met" : "not met";
}
