import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { isInstall, npmCommand, recordInstalls, runCommand } from "./commands.mjs";

const node = (script: string, options = {}) => runCommand(process.execPath, ["-e", script], options);

describe("runCommand", () => {
  it("gives the exit code and both outputs", async () => {
    const finished = await node(`process.stdout.write("out"); process.stderr.write("err"); process.exitCode = 3;`);
    expect(finished).toMatchObject({ code: 3, stdout: "out", stderr: "err" });
    expect(finished.output).toHaveLength(6);
  });

  it("adds to the environment and removes from it", async () => {
    process.env.ORBAX_TEST_REMOVED = "there";
    const script = `process.stdout.write(process.env.ORBAX_TEST_ADDED + ("ORBAX_TEST_REMOVED" in process.env))`;
    const { stdout } = await node(script, { env: { ORBAX_TEST_ADDED: "yes", ORBAX_TEST_REMOVED: undefined } });
    delete process.env.ORBAX_TEST_REMOVED;
    expect(stdout).toBe("yesfalse");
  });

  it("gives code 127 for a command that does not exist", async () => {
    expect((await runCommand("orbax-webgpu-no-such-command", [])).code).toBe(127);
  });

  it("stops a command that takes too long, with its children", async () => {
    const grandchild = `require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
      setInterval(() => {}, 1000)`;
    const finished = await node(grandchild, { timeoutSeconds: 1 });
    expect(finished.code).toBe(124);
    expect(finished.output).toContain("stopped after 1 s");
  });
});

describe("stopCommandsOnSignals", () => {
  it("ends with code 130 on Ctrl-C and leaves no child behind", async () => {
    const folder = mkdtempSync(join(tmpdir(), "orbax-webgpu-signals-"));
    const pulse = join(folder, "pulse");
    const child = `setInterval(() => require("node:fs").appendFileSync(${JSON.stringify(pulse)}, "."), 10)`;
    const script = join(folder, "parent.mjs");
    writeFileSync(
      script,
      `import { runCommand, stopCommandsOnSignals } from ${JSON.stringify(new URL("./commands.mjs", import.meta.url).href)};
      stopCommandsOnSignals();
      await runCommand(process.execPath, ["-e", ${JSON.stringify(child)}]);`,
    );
    const parent = spawn(process.execPath, [script], { stdio: "inherit" });
    await expect.poll(() => existsSync(pulse)).toBe(true);
    parent.kill("SIGINT");
    const [code] = await once(parent, "exit");
    expect(code).toBe(130);
    const beats = statSync(pulse).size;
    await sleep(200);
    expect(statSync(pulse).size - beats).toBeLessThanOrEqual(1);
    rmSync(folder, { recursive: true });
  });
});

describe("recordInstalls", () => {
  it("notes the commands that install and runs them all", async () => {
    const ran: string[] = [];
    const lines: string[] = [];
    const { run, installs } = recordInstalls({
      run: async (command, args) => {
        ran.push([command, ...args].join(" "));
        return { code: 0, output: "", stdout: "", stderr: "" };
      },
      log: (line) => lines.push(line),
    });
    await run("npm", ["ci"]);
    await run("/usr/bin/python3", ["-c", "print(1)"]);
    await run("/usr/bin/python3", ["-m", "venv", "/somewhere/uv"]);
    expect(ran).toHaveLength(3);
    expect(installs).toEqual(["npm ci", "python3 -m venv uv"]);
    expect(lines).toEqual(installs);
  });

  it.each([
    ["npm", ["ci"], true],
    ["apt-get", ["update"], true],
    ["uv", ["pip", "install", "-r", "requirements.txt"], true],
    ["node", ["cli.js", "install", "chromium"], true],
    ["python3", ["--version"], false],
    ["chromium", ["--version"], false],
  ])("tells whether %s %j installs", (command, args, expected) => {
    expect(isInstall(command, args)).toBe(expected);
  });
});

describe("npmCommand", () => {
  it("prefers the npm that started this process", () => {
    expect(npmCommand({ npm_execpath: "/lib/npm/bin/npm-cli.js" })).toEqual({
      command: process.execPath,
      args: ["/lib/npm/bin/npm-cli.js"],
    });
    expect(npmCommand({ npm_execpath: "/lib/yarn.js" }).args).toEqual([]);
    expect(npmCommand({}).command).toMatch(/^npm/);
  });
});
