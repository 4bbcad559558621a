// @ts-check
import { aptCommands, aptWorks, firstFailure } from "./apt.mjs";

/** Info-ZIP's commands, which Debian's packages of the same names hold. */
const names = ["zip", "unzip"];

/**
 * Says which of `zip` and `unzip` are not there; where `install` says so, apt installs them first.
 * @param {{ run: import("./commands.mjs").Run, install: boolean, log?: (line: string) => void, machine?: import("./apt.mjs").AptMachine }} options
 * @returns {Promise<string | undefined>} What will not be tried here; undefined where both are there.
 */
export async function missingZipTools({ run, install, log = () => {}, machine }) {
  let missing = await missingIn(run);
  if (missing.length === 0) return undefined;
  if (install && aptWorks(machine)) {
    log(`installing ${missing.join(" and ")}`);
    await firstFailure(aptCommands(missing), run);
    missing = await missingIn(run);
  }
  return missing.length === 0
    ? undefined
    : `not tried: ZIPs with ${missing.join(" and ")}; Debian has them: apt-get install ${names.join(" ")}`;
}

/** @param {import("./commands.mjs").Run} run */
async function missingIn(run) {
  const found = await Promise.all(names.map(async (name) => (await run(name, ["-v"], { timeoutSeconds: 30 })).code === 0));
  return names.filter((_, index) => !found[index]);
}
