// @ts-check
import { join } from "node:path";
import { runCommand, stopCommandsOnSignals } from "../setup/commands.mjs";
import { ensurePackages } from "../setup/install.mjs";

// `npm run bench`. It needs Node and npm only; what npm installs is imported after it was.

const root = join(import.meta.dirname, "..", "..");

try {
  stopCommandsOnSignals();
  await ensurePackages({ root, run: runCommand, log: (line) => void process.stderr.write(`${line}\n`) });
  const { runnerImport } = await import("vite");
  const imported = await runnerImport(join(import.meta.dirname, "bench.ts"), { configFile: false, root, logLevel: "warn" });
  const { bench } = /** @type {typeof import("./bench.js")} */ (imported.module);
  process.exitCode = await bench(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
