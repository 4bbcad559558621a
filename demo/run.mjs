// @ts-check
import { join } from "node:path";
import { parseArgs } from "node:util";
import { recordInstalls, runCommand, stopCommandsOnSignals } from "../e2e/setup/commands.mjs";
import { ensurePackages } from "../e2e/setup/install.mjs";

// `npm run demo`. It needs Node and npm only; what npm installs is imported after it was.

const help = `usage: npm run demo [-- --headless [restore] [train]] [-- --port N]

Installs and builds what is needed, serves the demo and prints its address; Ctrl-C ends it.
  --headless restore   opens the page in a Chromium without a window, prints what it restored and predicted, and ends; the same without "restore"
  --headless train     trains on the other page, kills it, goes on from the saved step, and prints both loss curves; fails where they differ
  --port N             serves on this port instead of a free one
`;

const pages = { restore: printReport, train: printCurves };

const root = join(import.meta.dirname, "..");
const say = (/** @type {string} */ line) => process.stdout.write(`${line}\n`);

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { headless: { type: "boolean" }, port: { type: "string", default: "0" }, help: { type: "boolean" } },
  });
  if (values.help) return process.stdout.write(help);
  const port = portOf(values.port);
  const wanted = pagesOf(positionals, values.headless === true);
  stopCommandsOnSignals();
  const { run } = recordInstalls({ log: (line) => say(`  ${line}`) });
  await ensurePackages({ root, run, log: say });
  await build();
  const { serveDemo } = await import("./serve.mjs");
  const server = await serveDemo({ root, port });
  if (values.headless) return printAll(wanted, server, run).finally(() => server.close());
  say(`The demo is at ${server.url}  (Ctrl-C ends it)`);
}

/** @param {string} text */
function portOf(text) {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`--port takes a number from 0 to 65535, not ${text}`);
  return port;
}

/**
 * @param {string[]} names
 * @param {boolean} isHeadless
 */
function pagesOf(names, isHeadless) {
  if (names.length > 0 && !isHeadless) throw new Error(`${names[0]} goes with --headless; see --help`);
  return (names.length === 0 ? ["restore"] : names).map((name) => {
    if (name === "restore" || name === "train") return name;
    throw new Error(`there is no page ${JSON.stringify(name)}; there are restore and train`);
  });
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
 * @param {(keyof typeof pages)[]} wanted
 * @param {Server} server
 * @param {import("../e2e/setup/commands.mjs").Run} run
 */
async function printAll(wanted, server, run) {
  const { ensureChromium } = await import("../e2e/setup/chromium.mjs");
  const executablePath = await ensureChromium({ run, log: say });
  for (const page of wanted) await pages[page](server, executablePath);
}

/** @typedef {{ url: string, traffic: () => import("./report.mjs").Traffic }} Server */

/**
 * @param {Server} server
 * @param {string} executablePath
 */
async function printReport({ url, traffic }, executablePath) {
  const { readReport } = await import("./headless.mjs");
  const { formatReport } = await import("./report.mjs");
  const report = await readReport({ url, executablePath });
  say(`\n${formatReport(report, traffic())}`);
}

/**
 * @param {Server} server
 * @param {string} executablePath
 */
async function printCurves({ url }, executablePath) {
  const { trainTwice } = await import("./headlessTraining.mjs");
  const { text, agree } = await trainTwice({ url: `${url}train.html`, executablePath });
  say(`\n${text}`);
  if (!agree) throw new Error("after the page was killed, the training did not go on as it would have");
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
