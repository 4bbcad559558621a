import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AptMachine } from "./apt.mjs";
import type { Run } from "./commands.mjs";
import { missingZipTools } from "./zipTools.mjs";

/** A Debian that root rules. */
let machine: AptMachine & { top: string } = { platform: "linux", top: "", isRoot: true };
beforeAll(() => {
  machine = { ...machine, top: mkdtempSync(join(tmpdir(), "orbax-webgpu-zip-")) };
  mkdirSync(join(machine.top, "usr", "bin"), { recursive: true });
  writeFileSync(join(machine.top, "usr", "bin", "apt-get"), "");
});
afterAll(() => rmSync(machine.top, { recursive: true }));

/** A machine where these commands answer; apt adds those that it is asked for where it can. */
function machineWith(there: string[], aptFails = false) {
  const ran: string[] = [];
  const run: Run = async (command, args) => {
    ran.push([command, ...args].join(" "));
    if (command === "apt-get" && args[0] === "install" && !aptFails) there.push(...args.slice(3));
    const code = command === "apt-get" ? Number(aptFails) : Number(!there.includes(command));
    return { code, stdout: "", stderr: "", output: "" };
  };
  return { run, ran };
}

test("installs nothing where both are there", async () => {
  const { run, ran } = machineWith(["zip", "unzip"]);
  expect(await missingZipTools({ run, install: true, machine })).toBeUndefined();
  expect(ran).toEqual(["zip -v", "unzip -v"]);
});

test("has apt install what is missing, where it may", async () => {
  const { run, ran } = machineWith(["zip"]);
  expect(await missingZipTools({ run, install: true, machine })).toBeUndefined();
  expect(ran).toContain("apt-get install -y --no-install-recommends unzip");
});

test("says what is missing where nothing may be installed, or apt fails", async () => {
  const message = "not tried: ZIPs with zip and unzip; Debian has them: apt-get install zip unzip";
  expect(await missingZipTools({ run: machineWith([]).run, install: false, machine })).toBe(message);
  expect(await missingZipTools({ run: machineWith([], true).run, install: true, machine })).toBe(message);
});

test("tries apt again where it fails at first", async () => {
  let failures = 1;
  const { run } = machineWith([]);
  const failingAtFirst: Run = async (command, args) =>
    command === "apt-get" && failures-- > 0 ? { code: 100, stdout: "", stderr: "", output: "" } : run(command, args);
  expect(await missingZipTools({ run: failingAtFirst, install: true, machine })).toBeUndefined();
});
