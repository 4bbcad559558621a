import { parseArgs } from "node:util";

export interface BenchOptions {
  /** Names of rows, or what they begin with; undefined: all, and the extras. */
  readonly only: readonly string[] | undefined;
  readonly reps: number;
  readonly json: string | undefined;
  readonly chart: string | undefined;
  /** Sixteenths of the data, to see whether everything works. */
  readonly quick: boolean;
  readonly port: number;
  /** Folder of a built package to measure; undefined: this one is built. */
  readonly package: string | undefined;
}

export const help = `usage: npm run bench [-- OPTIONS]

Measures restores and saves against the machine's own speed and against other ways, in a Chromium that nothing drives.
The first run makes the data with real Orbax (4 GB below e2e/results/bench, a few minutes); later ones use it again.
  --only NAME[,NAME…]  only these rows; a name also stands for all that contain it: opfs, zarrita, renderer, save; and "extras" for other
                       sets and contenders, "mirrors" for those of them that keep, "cold" for first restores after a page's load, which are
                       no rows
  --list               prints the rows' names
  --reps N             repetitions (5)
  --json FILE          writes ratios, medians and the machine as JSON (else e2e/results/bench/latest.json)
  --chart FILE         draws the times as SVG (else e2e/results/bench/latest.svg)
  --quick              a sixteenth of the data, twice: whether it works, not how fast
  --package FOLDER     measures the built package in this folder, such as an older dist, instead of building this one
  --port N             port of the server (47321); another one makes browsers copy their files anew
`;

/** @throws Error for what it does not know. */
export function benchOptions(args: readonly string[]): BenchOptions | "help" | "list" {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string" },
      reps: { type: "string" },
      json: { type: "string" },
      chart: { type: "string" },
      port: { type: "string", default: "47321" },
      package: { type: "string" },
      quick: { type: "boolean", default: false },
      help: { type: "boolean" },
      list: { type: "boolean" },
    },
  });
  if (values.help) return "help";
  if (values.list) return "list";
  return {
    only: values.only?.split(","),
    reps: wholeNumber("--reps", values.reps ?? (values.quick ? "2" : "5")),
    json: values.json,
    chart: values.chart,
    quick: values.quick,
    port: wholeNumber("--port", values.port),
    package: values.package,
  };
}

function wholeNumber(option: string, text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`${option} takes a whole number of at least 1, not ${text}`);
  return number;
}
