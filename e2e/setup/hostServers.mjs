// @ts-check
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { aptCommands, aptWorks, firstFailure } from "./apt.mjs";

/** Web servers that the library is tried on, by their commands, and Debian's packages of them. */
const packages = { nginx: "nginx-light", caddy: "caddy", apache2: "apache2", python3: "python3" };

/** @typedef {keyof typeof packages} HostServer */

/**
 * Where the web servers are on this machine; undefined for one that is not there.
 * @param {readonly string[]} [folders] Those of the system first, since they are Debian's own.
 * @returns {Record<HostServer, string | undefined>}
 */
export function findHostServers(folders = ["/usr/sbin", "/usr/bin", ...(process.env.PATH ?? "").split(delimiter)]) {
  const find = (/** @type {string} */ name) => folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  return { nginx: find("nginx"), caddy: find("caddy"), apache2: find("apache2"), python3: find("python3") };
}

/**
 * Says which web servers are not there; where `install` says so, apt installs them first.
 * @param {{ run: import("./commands.mjs").Run, install: boolean, log?: (line: string) => void, machine?: import("./apt.mjs").AptMachine,
 *   find?: typeof findHostServers }} options
 * @returns {Promise<string | undefined>} What will not be tried here, and why; undefined where all are there.
 */
export async function missingHostServers({ run, install, log = () => {}, machine, find = findHostServers }) {
  if (missingIn(find()).length === 0) return undefined;
  let failure;
  if (install && aptWorks(machine)) {
    const wanted = missingIn(find()).map((name) => packages[name]);
    log(`installing web servers to try: ${wanted.join(", ")}`);
    // They are started by the tests, each for itself; packages would start them as services.
    const commands = aptCommands(wanted).map((command) => ({
      ...command,
      options: { ...command.options, env: { ...command.options?.env, RUNLEVEL: "1" } },
    }));
    failure = await firstFailure(commands, run);
  }
  const missing = missingIn(find());
  if (missing.length === 0) return undefined;
  const wanted = missing.map((name) => packages[name]).join(" ");
  return `not tried: ${missing.join(", ")}; Debian has them: apt-get install ${wanted}${failure === undefined ? "" : `; apt-get ${failure}`}`;
}

/** @param {Record<HostServer, string | undefined>} found @returns {HostServer[]} */
const missingIn = (found) => /** @type {HostServer[]} */ (Object.keys(packages)).filter((name) => found[name] === undefined);
