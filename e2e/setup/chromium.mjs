// @ts-check
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { aptCommands, aptWorks, firstFailure } from "./apt.mjs";

/** First version whose WebGPU is good enough for this package. */
const oldestVersion = 121;

const names = [
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "chrome",
  "microsoft-edge",
  "microsoft-edge-stable",
  "brave-browser",
];
const macApps = ["Chromium", "Google Chrome", "Microsoft Edge", "Brave Browser"];
const windowsApps = ["Chromium/Application/chrome.exe", "Google/Chrome/Application/chrome.exe", "Microsoft/Edge/Application/msedge.exe"];

/**
 * @typedef {object} Machine Where to look; the defaults are this machine.
 * @property {Record<string, string | undefined>} [env]
 * @property {NodeJS.Platform} [platform]
 * @property {string} [home]
 * @property {string} [top] Folder of the whole system, `/`.
 */

/**
 * Path of a Chromium that really runs, or undefined: `CHROMIUM_PATH`, then the system's, then the one that Playwright keeps.
 * @param {Machine} [machine]
 * @returns {string | undefined}
 * @throws {Error} where `CHROMIUM_PATH` names something that does not run.
 */
export function findChromium(machine = {}) {
  const { env = process.env, platform = process.platform } = machine;
  const chosen = env.CHROMIUM_PATH;
  if (chosen !== undefined && chosen !== "") {
    if (chromiumRuns(chosen, platform)) return chosen;
    throw new Error(`CHROMIUM_PATH is ${chosen}, which does not start as Chromium ${oldestVersion} or newer; correct it, or unset it`);
  }
  for (const path of chromiumPlaces(machine)) if (chromiumRuns(path, platform)) return path;
  return undefined;
}

/**
 * Finds a Chromium, or installs one by what is there: Playwright's download, else apt as root on Debian.
 * @param {{ run: import("./commands.mjs").Run, log?: (line: string) => void, find?: typeof findChromium, machine?: Machine & { isRoot?: boolean } }} options
 * @returns {Promise<string>} Its path.
 * @throws {Error} that says what to do where neither works.
 */
export async function ensureChromium({ run, log = () => {}, find = findChromium, machine = {} }) {
  const found = find(machine);
  if (found !== undefined) return found;
  const tried = [];
  for (const { what, commands } of installers(machine)) {
    log(`no Chromium found; installing one with ${what}`);
    const reason = await firstFailure(commands, run);
    const installed = find(machine);
    if (installed !== undefined) return installed;
    tried.push(`${what}: ${reason ?? "what it installed does not start"}`);
  }
  throw new Error(whatToDo(tried));
}

/**
 * Arguments with which Chromium has WebGPU on machines without a GPU and calls nobody but this machine.
 * @param {{ root?: boolean }} [options] `root`: whether the superuser starts it, for whom Chromium refuses its sandbox.
 * @returns {string[]}
 */
export const chromiumArguments = ({ root = process.getuid?.() === 0 } = {}) => [
  "--enable-unsafe-webgpu",
  "--use-webgpu-adapter=swiftshader",
  "--enable-features=Vulkan",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-quic",
  "--no-first-run",
  "--no-default-browser-check",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
  ...(root ? ["--no-sandbox"] : []),
];

/**
 * Every place where a Chromium may stand, best first.
 * @param {Machine} [machine]
 * @returns {string[]}
 */
export function chromiumPlaces({ env = process.env, platform = process.platform, home = homedir(), top = "/" } = {}) {
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const onPath = names.flatMap((name) => folders.map((folder) => join(folder, platform === "win32" ? `${name}.exe` : name)));
  return [...onPath, ...usualPlaces(env, platform, home, top), ...playwrightPlaces(env, platform, home)].filter(existsSync);
}

/**
 * @param {Record<string, string | undefined>} env
 * @param {NodeJS.Platform} platform
 * @param {string} home
 * @param {string} top
 */
function usualPlaces(env, platform, home, top) {
  if (platform === "darwin") {
    return macApps.flatMap((app) => [top, home].map((folder) => join(folder, "Applications", `${app}.app`, "Contents", "MacOS", app)));
  }
  if (platform === "win32") {
    const folders = [env.PROGRAMFILES, env["PROGRAMFILES(X86)"], env.LOCALAPPDATA].filter((folder) => folder !== undefined);
    return windowsApps.flatMap((app) => folders.map((folder) => join(folder, app)));
  }
  return ["usr/lib/chromium/chromium", "opt/google/chrome/chrome", "snap/bin/chromium"].map((path) => join(top, path));
}

/**
 * Playwright keeps its browsers as `chromium-<revision>/<folder for the system>/…`; the newest comes first.
 * @param {Record<string, string | undefined>} env
 * @param {NodeJS.Platform} platform
 * @param {string} home
 */
function playwrightPlaces(env, platform, home) {
  const cache = playwrightCache(env, platform, home);
  const revisions = entriesOf(cache)
    .filter((name) => /^chromium-\d+$/.test(name))
    .sort((a, b) => Number(b.slice(9)) - Number(a.slice(9)));
  return revisions.flatMap((revision) =>
    entriesOf(join(cache, revision)).flatMap((folder) =>
      [
        "chrome",
        "chrome.exe",
        "Chromium.app/Contents/MacOS/Chromium",
        "Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
      ].map((binary) => join(cache, revision, folder, binary)),
    ),
  );
}

/**
 * @param {Record<string, string | undefined>} env
 * @param {NodeJS.Platform} platform
 * @param {string} home
 */
function playwrightCache(env, platform, home) {
  const chosen = env.PLAYWRIGHT_BROWSERS_PATH;
  if (chosen === "0") return join(dirname(playwrightCli() ?? home), "..", "playwright-core", ".local-browsers");
  if (chosen !== undefined && chosen !== "") return chosen;
  if (platform === "darwin") return join(home, "Library", "Caches", "ms-playwright");
  if (platform === "win32") return join(env.LOCALAPPDATA ?? join(home, "AppData", "Local"), "ms-playwright");
  return join(env.XDG_CACHE_HOME ?? join(home, ".cache"), "ms-playwright");
}

/** @param {string} folder */
function entriesOf(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/**
 * @param {string} path
 * @param {NodeJS.Platform} platform
 */
function chromiumRuns(path, platform) {
  if (platform === "win32") return existsSync(path); // there `--version` opens a window and prints nothing
  const { status, stdout } = spawnSync(path, ["--version"], { encoding: "utf8", timeout: 120_000, stdio: ["ignore", "pipe", "ignore"] });
  const version = /(\d+)\.\d+\.\d+/.exec(stdout ?? "")?.[1];
  return status === 0 && Number(version ?? 0) >= oldestVersion;
}

/** Playwright's command-line script, where the package is installed. */
function playwrightCli() {
  try {
    return join(dirname(fileURLToPath(import.meta.resolve("playwright/package.json"))), "cli.js");
  } catch {
    return undefined;
  }
}

/**
 * @param {Machine & { isRoot?: boolean }} machine
 * @returns {{ what: string, commands: import("./apt.mjs").InstallCommand[] }[]}
 */
function installers(machine) {
  const cli = playwrightCli();
  const playwright = {
    command: process.execPath,
    args: [cli ?? "", "install", "--no-shell", "chromium"],
    options: { timeoutSeconds: 600 },
  };
  return [
    ...(cli === undefined ? [] : [{ what: "Playwright", commands: [playwright] }]),
    ...(aptWorks(machine) ? [{ what: "apt", commands: aptCommands(["chromium"]) }] : []),
  ];
}

/** @param {string[]} tried */
function whatToDo(tried) {
  const attempts = tried.length === 0 ? "" : `\nWhat was tried:\n${tried.map((line) => `  ${line}`).join("\n")}`;
  return `There is no Chromium ${oldestVersion} or newer on this machine, and none could be installed.
Do one of these, then run the command again:
  npx playwright install chromium           (downloads one; on Linux add --with-deps, as root)
  sudo apt-get install chromium             (Debian)
  CHROMIUM_PATH=/path/to/chrome npm test    (uses a Chrome, Edge or Chromium that you have)${attempts}`;
}
