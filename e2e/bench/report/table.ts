import { type Measured, measuredName, type Quantity } from "../measurements.js";
import type { Row } from "../rows.js";
import { type RowResult, verdictOf } from "./results.js";

/** The rows as text. */
export function rowTable(results: readonly RowResult[]): string {
  const lines = results.map((result) => {
    const { row, value } = result;
    const sign = row.better === "lower" ? "≤" : "≥";
    const goal = (number: number) => `${sign} ${formatted(number, row.unit)}`;
    return [
      row.name,
      row.title,
      value === undefined ? "–" : formatted(value, row.unit),
      goal(row.required),
      goal(row.aim),
      verdictOf(result),
    ];
  });
  return aligned([["name", "ratio", "measured", "required", "aim", ""], ...lines]);
}

/** All that was measured as text. */
export const measuredTable = (all: readonly Measured[]): string =>
  aligned([
    ["measured", "median", "least", "most"],
    ...all.map((measured) => {
      const { median, least, most } = measured.summary;
      return [measuredName(measured), ...[median, least, most].map((value) => withUnit(value, measured.quantity))];
    }),
  ]);

function formatted(value: number, unit: Row["unit"]): string {
  if (unit === "×") return value >= 20 ? value.toFixed(0) : value.toFixed(2);
  return unit === "requests" ? value.toFixed(0) : `${value.toFixed(unit === "MB" ? 0 : 1)} ${unit}`;
}

/** A number with its unit. */
export function withUnit(value: number, quantity: Quantity): string {
  switch (quantity) {
    case "milliseconds":
    case "coldMilliseconds":
    case "longestGap":
      return `${value.toFixed(value < 100 ? 1 : 0)} ms`;
    case "heapBytes":
    case "workerHeapBytes":
    case "rendererGrowth":
    case "gpuGrowth":
      return `${(value / 1e6).toFixed(1)} MB`;
    case "requests":
      return `${value}`;
    default:
      return quantity satisfies never;
  }
}

/** Columns of equal width; numbers, which all but the first two columns hold, to the right. */
function aligned(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const isText = (column: number) => column === 0 || lines[0]?.[column] === "ratio" || lines[0]?.[column] === "";
  const cell = (text: string, column: number) => (isText(column) ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0));
  return lines.map((line) => line.map(cell).join("  ").trimEnd()).join("\n");
}
