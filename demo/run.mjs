// @ts-check
import { join } from "node:path";
import { parseArgs } from "node:util";
import { recordInstalls, runCommand, stopCommandsOnSignals } from "../e2e/setup/commands.mjs";
import { ensurePackages } from "../e2e/setup/install.mjs";

// `npm run demo`. It needs Node and npm only; what npm installs is imported after it was.

const help = `usage: npm run demo [-- --headless] [-- --port N]

Installs and builds what is needed, serves the demo and prints its address; Ctrl-C ends it.
  --headless   opens the page in a Chromium without a window, prints what it restored and predicted, and ends
  --port N     serves on this port instead of a free one
`;

const root = join(import.meta.dirname, "..");
const say = (/** @type {string} */ line) => process.stdout.write(`${line}\n`);

async function main() {
  const { values } = parseArgs({
    options: { headless: { type: "boolean" }, port: { type: "string", default: "0" }, help: { type: "boolean" } },
  });
  if (values.help) return process.stdout.write(help);
  const port = portOf(values.port);
  stopCommandsOnSignals();
  const { run } = recordInstalls({ log: (line) => say(`  ${line}`) });
  await ensurePackages({ root, run, log: say });
  await build();
  const { serveDemo } = await import("./serve.mjs");
  const server = await serveDemo({ root, port });
  if (values.headless) return printReport(server, run).finally(() => server.close());
  say(`The demo is at ${server.url}  (Ctrl-C ends it)`);
}

/** @param {string} text */
function portOf(text) {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`--port takes a number from 0 to 65535, not ${text}`);
  return port;
}

async function build() {
  say("building the package and the demo");
  const { buildLibrary } = await import("../e2e/setup/build.mjs");
  const { toolOf } = await import("../e2e/setup/tools.mjs");
  const library = await buildLibrary({ root, run: runCommand });
  if (library.code !== 0) throw new Error(`the package does not build:\n${library.output}`);
  const demo = await toolOf({ root, run: runCommand })("vite", "vite", ["build", "--config", "demo/vite.config.ts"]);
  if (demo.code !== 0) throw new Error(`the demo does not build:\n${demo.output}`);
}

/**
 * @param {{ url: string, traffic: () => import("./report.mjs").Traffic }} server
 * @param {import("../e2e/setup/commands.mjs").Run} run
 */
async function printReport({ url, traffic }, run) {
  const { ensureChromium } = await import("../e2e/setup/chromium.mjs");
  const { readReport } = await import("./headless.mjs");
  const { formatReport } = await import("./report.mjs");
  const executablePath = await ensureChromium({ run, log: say });
  const report = await readReport({ url, executablePath });
  say(`\n${formatReport(report, traffic())}`);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
