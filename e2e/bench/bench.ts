import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildPage } from "./buildPage.js";
import { type BenchData, ensureData, filesOf } from "./data/ensureData.js";
import { Measurements } from "./measurements.js";
import { type BenchOptions, benchOptions, help } from "./options.js";
import type { SetName } from "./page/protocol.js";
import { jsonReport } from "./report/json.js";
import { load, type Machine, machine, machineLine } from "./report/machine.js";
import { type RowResult, resultOf } from "./report/results.js";
import { measuredTable, rowTable } from "./report/table.js";
import { timesChart } from "./report/timesChart.js";
import { coldStarts, extras, mirrors, type Need, type Row, rowsOf } from "./rows.js";
import { Seats } from "./seats.js";
import { Stage } from "./stage.js";
import { runStudies } from "./studies/studies.js";

const root = join(import.meta.dirname, "..", "..");
const results = join(root, "e2e", "results", "bench");
const slow = { latencyMs: 20, bytesPerSecond: 50e6 };

const say = (text: string) => void process.stdout.write(`${text}\n`);
const log = (line: string) => void process.stderr.write(`  ${line}\n`);

/** Runs `npm run bench` with its arguments. @returns The exit code: 1 where something could not be measured. */
export async function bench(args: readonly string[]): Promise<number> {
  const options = benchOptions(args);
  if (options === "help") return say(help) ?? 0;
  if (options === "list")
    return (
      say(
        allRows(undefined)
          .map(({ name, title }) => `${name.padEnd(20)} ${title}`)
          .join("\n"),
      ) ?? 0
    );
  const needed = chosen(options);
  const sets = [...new Set(needed.needs.map(({ series }) => series.set))];
  const data = await ensureData(sets, options.quick, log);
  log("building the page");
  await buildPage(options.package);
  const loadBefore = load();
  const { measured, adapter } = await measure(options, data, needed.needs);
  const rows = allRows(data).filter(({ name }) => needed.names.has(name));
  const results = rows.map((row) => resultOf(row, measured));
  return report(results, measured, machine(adapter, loadBefore), args, options);
}

/** The rows. @param data Without it, their values cannot be computed. */
const allRows = (data: BenchData | undefined): Row[] =>
  rowsOf({ bytesPerSecond: slow.bytesPerSecond, bytesOnSlowNetwork: (set) => (data === undefined ? Number.NaN : stepBytes(data, set)) });

const stepBytes = (data: BenchData, set: SetName): number => filesOf(data, set, "checkpoints").reduce((sum, { size }) => sum + size, 0);

/** What the options ask for. @throws Error where they name no row. */
function chosen({ only }: BenchOptions): { names: Set<string>; needs: Need[] } {
  const rows = allRows(undefined).filter(({ name }) => only === undefined || only.some((part) => name.includes(part)));
  const wantsExtras = (name: string) => only === undefined || only.includes(name);
  const needs = [
    ...rows.flatMap(({ needs }) => needs),
    ...(wantsExtras("extras") ? extras : []),
    ...(only?.includes("mirrors") ? mirrors : []),
    ...(wantsExtras("cold") ? coldStarts : []),
  ];
  if (needs.length === 0) throw new Error(`no row is called ${only?.join(" or ")}; --list prints all`);
  return { names: new Set(rows.map(({ name }) => name)), needs };
}

async function measure(
  options: BenchOptions,
  data: BenchData,
  needs: readonly Need[],
): Promise<{ measured: Measurements; adapter: string }> {
  const stage = new Stage(
    { page: join(results, "page"), data: data.folder, port: options.port, slow },
    join(results, `profile-${options.port}`),
  );
  await stage.start();
  const seats = new Seats(stage, data);
  const measured = new Measurements();
  try {
    const { ready } = await seats.of("isolated");
    await runStudies({ seats, server: stage.server, data, measured, reps: options.reps, log }, needs);
    return { measured, adapter: ready.adapter };
  } finally {
    await seats.close();
    await stage.close();
  }
}

/** Prints the tables, and writes the JSON and the chart. @returns The exit code. */
function report(
  rows: readonly RowResult[],
  measured: Measurements,
  machine: Machine,
  args: readonly string[],
  options: BenchOptions,
): number {
  const command = ["npm run bench", ...(args.length > 0 ? ["--", ...args] : [])].join(" ");
  const failures = Object.entries(measured.failures());
  say(`\n${measuredTable(measured.all())}\n\n${rowTable(rows)}\n\n${machineLine(machine)}`);
  if (options.quick) say("a sixteenth of the data: whether it works, not how fast");
  if (machine.loadBefore > machine.cores / 4)
    say(`others used the machine (load ${machine.loadBefore.toFixed(1)}): measure again when it is idle`);
  for (const [name, reason] of failures) say(`not measured: ${name}: ${reason.split("\n")[0]}`);
  const json = JSON.stringify(jsonReport(rows, measured, machine, command), null, 2);
  const name = options.quick ? "quick" : "latest";
  writeFileSync(options.json ?? join(results, `${name}.json`), `${json}\n`);
  writeFileSync(options.chart ?? join(results, `${name}.svg`), timesChart(measured.all(), machineLine(machine)));
  return failures.length > 0 ? 1 : 0;
}
