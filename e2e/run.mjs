// @ts-check
import { join } from "node:path";
import { parseArgs } from "node:util";
import { recordInstalls, runCommand, stopCommandsOnSignals } from "./setup/commands.mjs";
import { ensurePackages } from "./setup/install.mjs";
import { runStages } from "./setup/runStages.mjs";
import { stagesOf } from "./setup/stages.mjs";

// `npm test`: everything that says whether this checkout is good. It needs Node and npm only and imports nothing that npm installs.

const help = `usage: npm test [-- --only STAGE[,STAGE…]]

Runs each stage and ends with the line "N passed, N failed".
stages: types, lint, unit, build, package, hosts, wasm, browser, memory, demo, recipes, interop, again
`;

const root = join(import.meta.dirname, "..");

async function main() {
  const { values } = parseArgs({ options: { only: { type: "string" }, help: { type: "boolean" } } });
  if (values.help) return process.stdout.write(help);
  stopCommandsOnSignals();
  const log = (/** @type {string} */ line) => process.stderr.write(`  ${line}\n`);
  const prepare = recordInstalls({ log });
  await ensurePackages({ root, run: prepare.run });
  const stages = stagesOf({ root, run: runCommand, prepare, log });
  const { failed } = await runStages({ stages, only: values.only?.split(","), ci: process.env.CI === "true" });
  process.exitCode = failed > 0 ? 1 : 0;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.stdout.write("0 passed, 1 failed\n");
  process.exitCode = 1;
}
