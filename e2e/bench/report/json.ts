import type { Measurements } from "../measurements.js";
import type { Machine } from "./machine.js";
import type { RowResult } from "./results.js";

/** What `--json` writes. */
export const jsonReport = (results: readonly RowResult[], measured: Measurements, machine: Machine | undefined, command: string) => ({
  ratios: Object.fromEntries(
    results.map(({ row: { name, title, required, aim, better, unit }, value }) => [
      name,
      { value: value ?? null, required, aim, better, unit, title },
    ]),
  ),
  measured: measured.summaries(),
  failures: measured.failures,
  machine: machine ?? null,
  command,
  date: new Date().toISOString(),
});
