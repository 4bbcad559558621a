import { type Measurements, measuredName } from "../measurements.js";
import type { Machine } from "./machine.js";
import type { RowResult } from "./results.js";

/** What `--json` writes. */
export const jsonReport = (results: readonly RowResult[], measured: Measurements, machine: Machine, command: string) => ({
  ratios: Object.fromEntries(
    results.map(({ row: { name, title, required, aim, better, unit }, value }) => [
      name,
      { value: value ?? null, required, aim, better, unit, title },
    ]),
  ),
  measured: Object.fromEntries(measured.all().map((one) => [measuredName(one), one.summary])),
  failures: measured.failures(),
  machine,
  command,
  date: new Date().toISOString(),
});
