// @ts-check
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { buildLibrary } from "./build.mjs";
import { ensureChromium } from "./chromium.mjs";
import { countCommand, countPlaywright, countReport, countVitest } from "./counts.mjs";
import { missingHostServers } from "./hostServers.mjs";
import { ensurePackages } from "./install.mjs";
import { ensurePython, oldestRequirements } from "./python.mjs";
import { toolOf } from "./tools.mjs";
import { missingWasmTools } from "./wasmTools.mjs";
import { missingZipTools } from "./zipTools.mjs";

/**
 * The stages of `npm test`, in order.
 * @param {{ root: string, run: import("./commands.mjs").Run, prepare: { run: import("./commands.mjs").Run, installs: string[] },
 *   log: (line: string) => void }} options `run` starts tools, `prepare` notes what it installs.
 * @returns {import("./runStages.mjs").Stage[]}
 */
export function stagesOf({ root, run, prepare, log }) {
  const results = join(root, "e2e", "results");
  const tool = toolOf({ root, run });

  const vitest = async (/** @type {string} */ config, /** @type {string} */ name) => {
    const file = freshReport(results, name);
    const args = ["run", "--config", config, "--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
    return countReport(await tool("vitest", "vitest", args), file, countVitest);
  };
  const playwright = async (/** @type {string} */ project, /** @type {Record<string, string>} */ env) => {
    const file = freshReport(results, project);
    const args = ["test", "--config", "e2e/playwright.config.ts", "--project", project, "--reporter=list,json"];
    const finished = await tool("playwright", "playwright", args, { env: { ...env, PLAYWRIGHT_JSON_OUTPUT_FILE: file } });
    return countReport(finished, file, countPlaywright);
  };
  const chromium = () => ensureChromium({ run: prepare.run, log });
  /** With the newest Orbax, and with the oldest that substrax takes. */
  const pythons = async () => {
    const options = { run: prepare.run, log };
    return /** @type {const} */ ([await ensurePython(options), await ensurePython({ ...options, packages: oldestRequirements })]);
  };
  const noWasmTools = () => missingWasmTools({ root, run: prepare.run, install: process.env.CI === "true", log });

  const missingHosts = () => missingHostServers({ run: prepare.run, install: process.env.CI === "true", log });
  const missingZips = () => missingZipTools({ run: prepare.run, install: process.env.CI === "true", log });

  return [
    { id: "types", name: "type check", run: async () => countCommand(await tool("typescript", "tsc", ["--noEmit", "-p", "."])) },
    { id: "lint", name: "lint", run: async () => countCommand(await tool("@biomejs/biome", "biome", ["ci", "--colors=off", "."])) },
    { id: "unit", name: "unit tests", run: () => vitest("vite.config.ts", "unit") },
    { id: "build", name: "build", run: async () => countCommand(await buildLibrary({ root, run })) },
    { id: "package", name: "package checks", needs: ["build"], run: () => vitest("e2e/package/vitest.config.ts", "package") },
    {
      id: "hosts",
      name: "web servers",
      run: async () => {
        const reason = await missingHosts();
        if (reason !== undefined) log(`hosts: ${reason}`);
        const result = await vitest("e2e/hosts/vitest.config.ts", "hosts");
        return { ...result, output: `${reason ?? ""}\n${result.output}` };
      },
    },
    {
      id: "wasm",
      name: "wasm, rebuilt",
      run: async () => {
        const reason = await noWasmTools();
        if (reason !== undefined) return { notRun: reason };
        return countCommand(await run(process.execPath, ["src/codecs/zstd/wasm/build.mjs", "--check"], { cwd: root }));
      },
    },
    {
      id: "browser",
      name: "browser tests",
      needs: ["build"],
      run: async () => playwright("browser", { CHROMIUM_PATH: await chromium() }),
    },
    {
      id: "memory",
      name: "memory tests",
      needs: ["build"],
      run: async () => playwright("memory", { CHROMIUM_PATH: await chromium() }),
    },
    {
      id: "demo",
      name: "demo",
      needs: ["build"],
      run: async () => {
        const env = { CHROMIUM_PATH: await chromium() };
        return countCommand(await run(process.execPath, ["demo/run.mjs", "--headless", "restore", "train"], { cwd: root, env }));
      },
    },
    {
      id: "recipes",
      name: "recipes",
      needs: ["build"],
      run: async () => {
        await ensurePackages({ root: join(root, "docs", "recipes"), run: prepare.run, log });
        return playwright("recipes", { CHROMIUM_PATH: await chromium() });
      },
    },
    {
      id: "interop",
      name: "Python interop",
      needs: ["build"],
      run: async () => {
        const [newest, oldest] = await pythons();
        if ("reason" in newest) return { notRun: newest.reason };
        if ("reason" in oldest) return { notRun: oldest.reason };
        const noZips = await missingZips();
        if (noZips !== undefined) log(`interop: ${noZips}`);
        const env = { ORBAX_PYTHON: newest.python, ORBAX_OLDEST_PYTHON: oldest.python, ORBAX_NO_ZIP: noZips ?? "" };
        return playwright("interop", { CHROMIUM_PATH: await chromium(), ...env });
      },
    },
    {
      id: "again",
      name: "second start",
      run: async () => {
        const before = prepare.installs.length;
        await ensurePackages({ root, run: prepare.run });
        await ensurePackages({ root: join(root, "docs", "recipes"), run: prepare.run });
        await chromium();
        await pythons();
        await noWasmTools();
        await missingHosts();
        await missingZips();
        const again = prepare.installs.slice(before);
        return { passed: again.length === 0 ? 1 : 0, failed: again.length === 0 ? 0 : 1, skipped: 0, output: again.join("\n") };
      },
    },
  ];
}

function freshReport(/** @type {string} */ results, /** @type {string} */ name) {
  mkdirSync(results, { recursive: true });
  const file = join(results, `${name}.json`);
  rmSync(file, { force: true });
  return file;
}
