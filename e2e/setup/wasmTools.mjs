// @ts-check
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { aptCommands, aptWorks, firstFailure } from "./apt.mjs";

/** @typedef {Record<string, string | undefined>} ToolVersions Of clang, lld and wasi-libc; undefined for what is not there. */

/** Debian's packages of these tools. */
const packages = ["clang-19", "lld-19", "wasi-libc"];

/**
 * What is on this machine of the tools that compile zstd's decoder.
 * @param {import("./commands.mjs").Run} run
 * @returns {Promise<ToolVersions>}
 */
export async function wasmTools(run) {
  const versionIn = async (/** @type {string} */ command, /** @type {string[]} */ args, /** @type {RegExp} */ pattern) => {
    const { code, stdout } = await run(command, args, { timeoutSeconds: 60 });
    return code === 0 ? pattern.exec(stdout)?.[1] : undefined;
  };
  const format = `--showformat=\${db:Status-Status} \${Version}`;
  return {
    clang: await versionIn("clang-19", ["--version"], /clang version ([\d.]+)/),
    lld: await versionIn("wasm-ld-19", ["--version"], /LLD ([\d.]+)/),
    "wasi-libc": await versionIn("dpkg-query", ["--show", format, "wasi-libc"], /^installed (\S+)/),
  };
}

/**
 * Finds the tools that the committed decoder was compiled with: others give other bytes. Where `install` says so and one is
 * missing, apt installs them.
 * @param {{ root: string, run: import("./commands.mjs").Run, install: boolean, log?: (line: string) => void,
 *   machine?: import("./apt.mjs").AptMachine }} options
 * @returns {Promise<string | undefined>} Why the decoder cannot be compiled again here; undefined where it can.
 */
export async function missingWasmTools({ root, run, install, log = () => {}, machine }) {
  const recorded = recordedTools(root);
  const found = await wasmTools(run);
  const missing = Object.keys(recorded).some((name) => found[name] === undefined);
  if (!missing || !install || !aptWorks(machine)) return difference(recorded, found);
  log(`installing what compiles zstd's decoder: ${packages.join(", ")}`);
  const failure = await firstFailure(aptCommands(packages), run);
  const reason = difference(recorded, await wasmTools(run));
  return reason === undefined || failure === undefined ? reason : `${reason}; apt-get ${failure}`;
}

/** @param {string} root @returns {Record<string, string>} */
const recordedTools = (root) => JSON.parse(readFileSync(join(root, "src", "codecs", "zstd", "wasm", "recorded.json"), "utf8")).tools;

/** @param {Record<string, string>} recorded @param {ToolVersions} found */
function difference(recorded, found) {
  const differing = Object.entries(recorded).filter(([name, version]) => found[name] !== version);
  if (differing.length === 0) return undefined;
  const list = differing.map(([name, version]) => `${name} ${version} (found: ${found[name] ?? "none"})`).join(", ");
  return `zstd's decoder was not compiled again: it takes ${list}; Debian 12 has them: apt-get install ${packages.join(" ")}`;
}
