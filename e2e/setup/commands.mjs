// @ts-check
import { spawn, spawnSync } from "node:child_process";
import { basename } from "node:path";

/**
 * @typedef {object} RunOptions
 * @property {string} [cwd]
 * @property {Record<string, string | undefined>} [env] Added to this process's environment; undefined removes a name.
 * @property {number} [timeoutSeconds] The command is killed then, with its children; the code is 124.
 * @property {boolean} [echo] Also shows the output while it runs.
 *
 * @typedef {object} Finished
 * @property {number} code Exit code; 127 where the command does not exist, 124 after a timeout.
 * @property {string} output Standard output and error in the order they came.
 * @property {string} stdout
 * @property {string} stderr
 *
 * @typedef {(command: string, args: readonly string[], options?: RunOptions) => Promise<Finished>} Run
 */

const posix = process.platform !== "win32";

/** @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();

/**
 * Runs a command to its end and never rejects: what went wrong stands in `code` and `output`. Node scripts are started with
 * `process.execPath`, npm with {@link npmCommand}, so no shell is needed on any system.
 * @type {Run}
 */
export function runCommand(command, args, { cwd, env = {}, timeoutSeconds, echo = false } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: environment(env),
      stdio: ["ignore", "pipe", "pipe"],
      detached: posix, // its own process group, so that its children can be stopped with it
      shell: !posix && /\.(cmd|bat)$/i.test(command),
      windowsHide: true,
    });
    running.add(child);
    const pieces = { stdout: "", stderr: "", output: "" };
    const collect = (/** @type {"stdout" | "stderr"} */ name) => (/** @type {string} */ text) => {
      pieces[name] += text;
      pieces.output += text;
      if (echo) process[name].write(text);
    };
    child.stdout.setEncoding("utf8").on("data", collect("stdout"));
    child.stderr.setEncoding("utf8").on("data", collect("stderr"));
    let timedOut = false;
    const timer =
      timeoutSeconds === undefined
        ? undefined
        : setTimeout(() => {
            timedOut = true;
            collect("stderr")(`\n${basename(command)} was stopped after ${timeoutSeconds} s\n`);
            stop(child);
          }, timeoutSeconds * 1000);
    const finish = (/** @type {number} */ code) => {
      clearTimeout(timer);
      running.delete(child);
      resolve({ code: timedOut ? 124 : code, ...pieces });
    };
    child.once("error", (error) => {
      collect("stderr")(`${error.message}\n`);
      finish(127);
    });
    child.once("close", (code) => finish(code ?? 1));
  });
}

/** Stops every command that still runs, with all it started. */
export function stopCommands() {
  for (const child of running) stop(child);
  running.clear();
}

/** Stops all commands and ends this process when somebody presses Ctrl-C or asks it to end. */
export function stopCommandsOnSignals() {
  for (const [signal, code] of /** @type {const} */ ([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ])) {
    process.once(signal, () => {
      stopCommands();
      process.exit(code);
    });
  }
}

/** npm as a command and its first arguments: the npm that started us, else the one on the PATH. */
export function npmCommand(env = process.env) {
  const script = env.npm_execpath;
  if (script !== undefined && /npm-cli\.c?js$/.test(script)) return { command: process.execPath, args: [script] };
  return { command: posix ? "npm" : "npm.cmd", args: [] };
}

const installWords = new Set(["ci", "install", "venv", "sync", "update"]);

/** Whether a command puts something on the machine, rather than asking what is there. */
export const isInstall = (/** @type {string} */ command, /** @type {readonly string[]} */ args) =>
  /^apt(-get)?$/.test(basename(command)) || args.some((argument) => installWords.has(argument));

/**
 * The one `run` that all set-up goes through: it runs a command and notes those that install something, so that a test can
 * count them.
 * @param {{ run?: Run, log?: (line: string) => void, installs?: string[] }} [options]
 * @returns {{ run: Run, installs: string[] }}
 */
export function recordInstalls({ run = runCommand, log = () => {}, installs = [] } = {}) {
  return {
    installs,
    run: (command, args, options) => {
      if (isInstall(command, args)) {
        const line = [basename(command), ...args.map((argument) => basename(argument))].join(" ");
        installs.push(line);
        log(line);
      }
      return run(command, args, options);
    },
  };
}

/** @param {Record<string, string | undefined>} changes */
function environment(changes) {
  const merged = { ...process.env, ...changes };
  for (const name of Object.keys(changes)) if (changes[name] === undefined) delete merged[name];
  return merged;
}

/** @param {import("node:child_process").ChildProcess} child */
function stop(child) {
  if (child.pid === undefined) return;
  try {
    if (posix) process.kill(-child.pid, "SIGKILL");
    else spawnSync("taskkill", ["/pid", String(child.pid), "/T", "/F"], { stdio: "ignore" });
  } catch {
    // it has ended by itself
  }
}
