// @ts-check
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { npmCommand } from "./commands.mjs";

/**
 * Installs the locked packages where they are missing or differ from `package-lock.json`; otherwise runs no command.
 * @param {{ root: string, run: import("./commands.mjs").Run, log?: (line: string) => void }} options
 * @returns {Promise<boolean>} Whether it installed.
 */
export async function ensurePackages({ root, run, log = () => {} }) {
  const lock = readFileSync(join(root, "package-lock.json"), "utf8");
  const wanted = stampOf(lock);
  const stampFile = join(root, "node_modules", ".orbax-webgpu-stamp");
  const stamp = readIfThere(stampFile);
  if (stamp === wanted) return false;
  const usable = stamp === undefined || stamp.split(" ")[0] === wanted.split(" ")[0];
  if (usable && holdsLockedPackages(lock, readIfThere(join(root, "node_modules", ".package-lock.json")))) {
    writeFileSync(stampFile, wanted);
    return false;
  }
  log("installing the locked packages (npm ci)");
  const npm = npmCommand();
  const { code, output } = await run(npm.command, [...npm.args, "ci", "--no-fund", "--no-audit"], { cwd: root });
  if (code !== 0) throw new Error(`npm ci failed with code ${code}; its output was:\n${output}`);
  writeFileSync(stampFile, wanted);
  return true;
}

/** The Node that packages with binaries were installed for, and the lock's hash. */
export const stampOf = (/** @type {string} */ lock) =>
  `${process.version}-${process.platform}-${process.arch} ${createHash("sha256").update(lock).digest("hex")}`;

/**
 * Whether npm's own record of `node_modules` has each locked package at its version, and no other. Optional packages (binaries
 * for other systems) may be absent.
 * @param {string} lock Text of package-lock.json.
 * @param {string | undefined} record Text of node_modules/.package-lock.json, which npm writes when an install has ended well.
 */
export function holdsLockedPackages(lock, record) {
  if (record === undefined) return false;
  const wanted = packagesOf(lock);
  const there = packagesOf(record);
  return (
    Object.entries(there).every(([path, { version }]) => wanted[path]?.version === version) &&
    Object.entries(wanted).every(([path, { optional }]) => path === "" || optional === true || there[path] !== undefined)
  );
}

/** @returns {Record<string, { version?: string, optional?: boolean }>} */
function packagesOf(/** @type {string} */ text) {
  try {
    return JSON.parse(text).packages ?? {};
  } catch {
    return {};
  }
}

const readIfThere = (/** @type {string} */ file) => (existsSync(file) ? readFileSync(file, "utf8") : undefined);
