// @ts-check
import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * @typedef {{ command: string, args: string[], options?: import("./commands.mjs").RunOptions }} InstallCommand
 * @typedef {{ platform?: NodeJS.Platform, top?: string, isRoot?: boolean }} AptMachine `top`: folder of the whole system, `/`.
 */

/** Whether apt can install packages here: on Debian and its like, as root. @param {AptMachine} [machine] */
export const aptWorks = ({ platform = process.platform, top = "/", isRoot = process.getuid?.() === 0 } = {}) =>
  platform === "linux" && isRoot && existsSync(join(top, "usr/bin/apt-get"));

/** What installs packages with apt. @param {readonly string[]} packages @returns {InstallCommand[]} */
export function aptCommands(packages) {
  const options = { timeoutSeconds: 600, env: { DEBIAN_FRONTEND: "noninteractive" } };
  return [
    { command: "apt-get", args: ["update"], options },
    { command: "apt-get", args: ["install", "-y", "--no-install-recommends", ...packages], options },
  ];
}

/**
 * Runs commands until one fails, also when it is tried again, as a network may; says how it failed.
 * @param {readonly InstallCommand[]} commands
 * @param {import("./commands.mjs").Run} run
 */
export async function firstFailure(commands, run) {
  for (const { command, args, options } of commands) {
    const first = await run(command, args, options);
    const { code, output } = first.code === 0 ? first : await run(command, args, options);
    if (code !== 0) return `ended with code ${code}: ${reasonIn(output)}`;
  }
  return undefined;
}

/** The lines of an installer's output that say most: those that speak of errors, else the last ones. @param {string} output */
function reasonIn(output) {
  const lines = output
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("at "));
  const errors = lines.filter((line) => /^(e:|err|error|failed)/i.test(line));
  return (errors.length > 0 ? errors : lines).slice(-2).join(" | ");
}
