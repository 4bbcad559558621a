// @ts-check
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { runCommand } from "./commands.mjs";

/**
 * @typedef {import("./commands.mjs").Run} Run
 * @typedef {{ executable: string, version: string, minor: number }} Interpreter
 * @typedef {{ run: Run, log: (line: string) => void }} Tools
 */

const projectRoot = join(import.meta.dirname, "..", "..");
const uvVersion = "0.13.9";
/** Minor versions of Python 3 for which every pinned package has a wheel, best first. */
const usableMinors = [13, 12, 14];
const abandonedAfterMs = 60 * 60 * 1000;
const windows = process.platform === "win32";

/** Pinned packages with the oldest Orbax that substrax takes. */
export const oldestRequirements = "requirements-0.11.33.txt";

/**
 * A Python with the pinned packages of a file in `e2e/interop/`, made under `.cache/` the first time. An environment
 * appears there by one rename when it is complete, so an interrupted run leaves none and two runs at once do no harm.
 * @param {{ run?: Run, log?: (line: string) => void, root?: string, env?: Record<string, string | undefined>, home?: string,
 *   packages?: string }} [options] `run` starts every command, those that install included; `packages` is the file's name.
 * @returns {Promise<{ python: string } | { reason: string }>} The environment's interpreter, or why there can be none.
 * @throws {Error} When an interpreter is there but installing failed; the message holds the command's output.
 */
export async function ensurePython(options = {}) {
  const {
    run = runCommand,
    log = () => {},
    root = projectRoot,
    env = process.env,
    home = homedir(),
    packages = "requirements.txt",
  } = options;
  const interpreter = await findInterpreter(run, candidatesOf(env, home));
  if (interpreter === undefined) return { reason: noInterpreter };
  const requirements = join(root, "e2e", "interop", packages);
  const stamp = stampOf(readFileSync(requirements, "utf8"), interpreter);
  const cache = join(root, ".cache");
  const folder = join(cache, `python-${createHash("sha256").update(stamp).digest("hex").slice(0, 16)}`);
  if (!(await isReady(run, folder, stamp))) {
    await makeEnvironment({ run, log }, { cache, folder, requirements, interpreter, stamp });
  }
  return { python: pythonOf(join(folder, "env")) };
}

const noInterpreter = `no Python 3.${Math.min(...usableMinors)} to 3.${Math.max(...usableMinors)} runs here; install one or name it in the environment variable PYTHON`;

/** What an environment depends on: the packages, and the interpreter with its place, since an environment links to it. */
const stampOf = (/** @type {string} */ requirements, /** @type {Interpreter} */ { executable, version }) =>
  JSON.stringify({ requirements, executable, version, uvVersion, platform: `${process.platform}-${process.arch}` });

/** An environment's interpreter. */
const pythonOf = (/** @type {string} */ folder) => (windows ? join(folder, "Scripts", "python.exe") : join(folder, "bin", "python"));

/**
 * Commands that may be a usable Python, best first.
 * @param {Record<string, string | undefined>} env
 * @param {string} home
 */
export function candidatesOf(env, home) {
  const named = usableMinors.map((minor) => `python3.${minor}`);
  const versions = join(env.PYENV_ROOT ?? join(home, ".pyenv"), "versions");
  const pyenv = existsSync(versions) ? readdirSync(versions) : [];
  const chosen = usableMinors.flatMap((minor) => pyenv.filter((version) => version.startsWith(`3.${minor}.`)).sort(newestFirst));
  const installed = chosen.map((version) => join(versions, version, "bin", "python"));
  return [...(env.PYTHON ? [env.PYTHON] : []), ...named, "python3", "python", ...installed];
}

const newestFirst = (/** @type {string} */ a, /** @type {string} */ b) => b.localeCompare(a, "en", { numeric: true });

/**
 * The first candidate that really runs and is usable; pyenv's shims exist and only print an error.
 * @param {Run} run
 * @param {readonly string[]} candidates
 * @returns {Promise<Interpreter | undefined>}
 */
async function findInterpreter(run, candidates) {
  for (const command of candidates) {
    const interpreter = await probe(run, command);
    if (interpreter !== undefined && usableMinors.includes(interpreter.minor)) return interpreter;
  }
  return undefined;
}

// CPython with the usual lock only: the others have no wheels.
const probeScript = `
import json, sys, sysconfig
usual = sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED") and sys.maxsize > 2**32
print(json.dumps({"executable": sys.executable, "version": list(sys.version_info[:3]), "usual": usual}))
`;

/**
 * @param {Run} run
 * @param {string} command
 * @returns {Promise<Interpreter | undefined>} Undefined where it does not run or is not a usual CPython 3.
 */
async function probe(run, command) {
  const { code, stdout } = await run(command, ["-c", probeScript], { timeoutSeconds: 60 });
  if (code !== 0) return undefined;
  try {
    const { executable, version, usual } = JSON.parse(stdout);
    return usual && version[0] === 3 ? { executable, version: version.join("."), minor: version[1] } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether a complete environment is there and its interpreter still runs.
 * @param {Run} run
 * @param {string} folder
 * @param {string} stamp
 */
async function isReady(run, folder, stamp) {
  const file = join(folder, "stamp.json");
  if (!existsSync(file) || readFileSync(file, "utf8") !== stamp) return false;
  return (await run(pythonOf(join(folder, "env")), ["-c", "import sys"], { timeoutSeconds: 60 })).code === 0;
}

/**
 * @param {Tools} tools
 * @param {{ cache: string, folder: string, requirements: string, interpreter: Interpreter, stamp: string }} wanted
 */
async function makeEnvironment(tools, { cache, folder, requirements, interpreter, stamp }) {
  mkdirSync(cache, { recursive: true });
  removeAbandoned(cache);
  const making = mkdtempSync(join(cache, "making-python-"));
  try {
    tools.log(`making a Python environment from ${basename(requirements)} (Python ${interpreter.version}, once)`);
    await fillEnvironment(tools, making, requirements, interpreter);
    rmSync(join(making, "uv"), { recursive: true, force: true });
    writeFileSync(join(making, "stamp.json"), stamp);
    await publish(tools.run, making, folder, stamp);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

/**
 * Gives the environment its final name; a complete one that another run put there meanwhile stays, a broken one goes.
 * @param {Run} run
 * @param {string} making
 * @param {string} folder
 * @param {string} stamp
 */
async function publish(run, making, folder, stamp) {
  try {
    renameSync(making, folder);
  } catch (error) {
    if (await isReady(run, folder, stamp)) return;
    if (!existsSync(folder)) throw error;
    rmSync(folder, { recursive: true, force: true });
    renameSync(making, folder);
  }
}

/** Folders that runs left behind when they were interrupted. */
function removeAbandoned(/** @type {string} */ cache) {
  for (const name of readdirSync(cache)) {
    const path = join(cache, name);
    if (name.startsWith("making-python-") && Date.now() - statSync(path).mtimeMs > abandonedAfterMs) {
      rmSync(path, { recursive: true, force: true });
    }
  }
}

/**
 * A first environment holds uv alone, which makes the second from the pinned packages (in seconds, and wheels only).
 * @param {Tools} tools
 * @param {string} making
 * @param {string} requirements
 * @param {Interpreter} interpreter
 */
async function fillEnvironment({ run }, making, requirements, interpreter) {
  const uv = await installUv(run, join(making, "uv"), [interpreter.executable, "python3", "python"]);
  const python = pythonOf(join(making, "env"));
  const packages = ["--only-binary", ":all:", "-r", requirements];
  await must(run, uv, ["-m", "uv", "venv", "--relocatable", "--python", interpreter.executable, join(making, "env")]);
  await must(run, uv, ["-m", "uv", "pip", "install", "--python", python, ...packages], 15);
  await must(run, python, ["-c", "import substrax.checkpoint"], 5);
}

/**
 * An environment with uv, by the first Python that can make one: Debian's lacks `venv` unless `python3-venv` is installed.
 * @param {Run} run
 * @param {string} folder
 * @param {readonly string[]} pythons
 * @returns {Promise<string>} Its interpreter.
 */
async function installUv(run, folder, pythons) {
  const python = pythonOf(folder);
  const outputs = [];
  for (const command of pythons) {
    rmSync(folder, { recursive: true, force: true });
    const made = await run(command, ["-m", "venv", folder], { timeoutSeconds: 300 });
    const pip = ["-m", "pip", "install", "--disable-pip-version-check", "--quiet", `uv==${uvVersion}`];
    const installed = made.code === 0 ? await run(python, pip, { timeoutSeconds: 600 }) : made;
    if (installed.code === 0) return python;
    outputs.push(`${command}: ${installed.output.trim()}`);
  }
  throw new Error(`no Python here could make an environment with uv ${uvVersion}; their outputs were:\n${outputs.join("\n")}`);
}

/**
 * Runs a command that has to succeed.
 * @param {Run} run
 * @param {string} command
 * @param {readonly string[]} args
 * @param {number} [minutes]
 */
async function must(run, command, args, minutes = 2) {
  const { code, output } = await run(command, args, { timeoutSeconds: minutes * 60 });
  if (code !== 0) throw new Error(`${[command, ...args].join(" ")} failed with code ${code}; its output was:\n${output}`);
}
