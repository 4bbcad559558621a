import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Finished, recordInstalls } from "./commands.mjs";
import { candidatesOf, ensurePython, oldestRequirements } from "./python.mjs";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "orbax-webgpu-python-"));
  mkdirSync(join(root, "e2e", "interop"), { recursive: true });
  writeRequirements("substrax==0.1.22");
});
afterEach(() => rmSync(root, { recursive: true }));

const writeRequirements = (text: string) => writeFileSync(join(root, "e2e", "interop", "requirements.txt"), text);
const finished = (code: number, stdout = ""): Finished => ({ code, stdout, stderr: "", output: stdout });
const told = (version: number[], usual = true) => JSON.stringify({ executable: `/real/python3.${version[1]}`, version, usual });

interface Machine {
  /** What each command prints when it is asked who it is; a command that is missing does not exist. */
  readonly pythons: Record<string, string>;
  /** Words of a command that fails. */
  readonly failing?: string;
  /** Pythons that cannot make an environment. */
  readonly withoutVenv?: readonly string[];
}

/** A machine that makes files as venv and uv would, and counts the installs. */
function fakeMachine({ pythons, failing, withoutVenv = [] }: Machine) {
  const commands: string[] = [];
  const recorded = recordInstalls({
    run: async (command, args) => {
      const line = [command, ...args].join(" ");
      commands.push(line);
      if (failing !== undefined && line.includes(failing)) return finished(1, "no route to host");
      if (args[0] === "-c" && args[1]?.includes("version_info")) {
        const answer = pythons[command];
        return answer === undefined ? finished(127) : finished(0, answer);
      }
      if (args.includes("venv")) return makeVenv(command, args.at(-1) ?? "", withoutVenv);
      return finished(existsSync(command) ? 0 : 127);
    },
  });
  return { ...recorded, commands };
}

function makeVenv(command: string, folder: string, withoutVenv: readonly string[]): Finished {
  if (withoutVenv.includes(command)) return finished(1, "ensurepip is not available");
  for (const name of [join("bin", "python"), join("Scripts", "python.exe")]) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), "");
  }
  return finished(0);
}

const call = (run: ReturnType<typeof fakeMachine>["run"], env: Record<string, string> = {}) =>
  ensurePython({ run, root, env, home: join(root, "home") });
const usual = { "python3.12": told([3, 12, 1]) };
const cached = () => readdirSync(join(root, ".cache"));

describe("ensurePython", () => {
  it("makes an environment once: the second call installs nothing", async () => {
    const machine = fakeMachine({ pythons: usual });
    const first = await call(machine.run);
    expect(machine.installs).toHaveLength(4);
    expect(first).toEqual({ python: expect.stringContaining(join(root, ".cache", "python-")) });
    expect(await call(machine.run)).toEqual(first);
    expect(machine.installs).toHaveLength(4);
    expect(cached()).toHaveLength(1);
  });

  it("gives uv the real interpreter's path and the pinned requirements, wheels only", async () => {
    const machine = fakeMachine({ pythons: usual });
    await call(machine.run);
    const [venv, pip, uvVenv, uvInstall] = machine.commands.filter((line) => line.includes("venv") || line.includes(" install "));
    expect(venv).toMatch(/^\/real\/python3\.12 -m venv /);
    expect(pip).toMatch(/uv==\d/);
    expect(uvVenv).toContain("--python /real/python3.12");
    expect(uvInstall).toContain(`--only-binary :all: -r ${join(root, "e2e", "interop", "requirements.txt")}`);
  });

  it("makes an environment of its own from each file of packages", async () => {
    const first = await call(fakeMachine({ pythons: usual }).run);
    writeFileSync(join(root, "e2e", "interop", oldestRequirements), "orbax-checkpoint==0.11.33");
    const machine = fakeMachine({ pythons: usual });
    const second = await ensurePython({ run: machine.run, root, env: {}, home: join(root, "home"), packages: oldestRequirements });
    expect(machine.commands.join("\n")).toContain(`-r ${join(root, "e2e", "interop", oldestRequirements)}`);
    expect(second).not.toEqual(first);
    expect(cached()).toHaveLength(2);
  });

  it("makes another environment when the requirements or the interpreter change", async () => {
    await call(fakeMachine({ pythons: usual }).run);
    writeRequirements("substrax==0.1.23");
    await call(fakeMachine({ pythons: usual }).run);
    await call(fakeMachine({ pythons: { "python3.13": told([3, 13, 0]) } }).run);
    expect(cached()).toHaveLength(3);
  });

  it("remakes an environment whose interpreter is gone", async () => {
    const first = await call(fakeMachine({ pythons: usual }).run);
    if ("reason" in first) throw new Error(first.reason);
    rmSync(first.python);
    const machine = fakeMachine({ pythons: usual });
    expect(await call(machine.run)).toEqual(first);
    expect(machine.installs).toHaveLength(4);
    expect(existsSync(first.python)).toBe(true);
  });

  it("leaves nothing behind when an install fails, says why, and starts anew the next time", async () => {
    await expect(call(fakeMachine({ pythons: usual, failing: "uv pip install" }).run)).rejects.toThrow("no route to host");
    expect(cached()).toEqual([]);
    const machine = fakeMachine({ pythons: usual });
    expect(await call(machine.run)).toHaveProperty("python");
  });

  it("does not take a half-made environment, and removes old ones", async () => {
    await call(fakeMachine({ pythons: usual }).run);
    const name = cached()[0] ?? "";
    rmSync(join(root, ".cache", name, "stamp.json"));
    const abandoned = join(root, ".cache", "making-python-x");
    mkdirSync(abandoned);
    utimesSync(abandoned, 0, 0);
    const machine = fakeMachine({ pythons: usual });
    await call(machine.run);
    expect(machine.installs).toHaveLength(4);
    expect(cached()).toEqual([name]);
  });

  it("gives two runs at once the same complete environment", async () => {
    const [one, two] = [fakeMachine({ pythons: usual }), fakeMachine({ pythons: usual })];
    const [first, second] = await Promise.all([call(one.run), call(two.run)]);
    expect(first).toEqual(second);
    expect(cached()).toHaveLength(1);
  });

  it("bootstraps uv with another Python where the chosen one cannot make environments", async () => {
    const machine = fakeMachine({ pythons: usual, withoutVenv: ["/real/python3.12"] });
    expect(await call(machine.run)).toHaveProperty("python");
    expect(machine.commands.some((line) => line.startsWith("python3 -m venv"))).toBe(true);
  });

  it("says what to do where no usable Python runs", async () => {
    const pythons = { python3: told([3, 11, 7]), python: told([3, 12, 0], false), "python3.13": "pyenv: python3.13: command not found" };
    const machine = fakeMachine({ pythons });
    expect(await call(machine.run)).toEqual({ reason: expect.stringMatching(/no Python 3\.12 to 3\.14 runs here.*PYTHON/) });
    expect(machine.installs).toEqual([]);
  });

  it("prefers PYTHON, then 3.13, and passes over what does not run", async () => {
    const pythons = { "/my/python": told([3, 14, 0]), "python3.13": told([3, 13, 1]), "python3.12": told([3, 12, 1]) };
    const chosen = async (env: Record<string, string>) => {
      rmSync(join(root, ".cache"), { recursive: true, force: true });
      const machine = fakeMachine({ pythons });
      await call(machine.run, env);
      return machine.commands.find((line) => line.includes("-m venv"))?.split(" ")[0];
    };
    expect(await chosen({ PYTHON: "/my/python" })).toBe("/real/python3.14");
    expect(await chosen({ PYTHON: "/absent" })).toBe("/real/python3.13");
    expect(await chosen({})).toBe("/real/python3.13");
  });
});

describe("candidatesOf", () => {
  it("adds pyenv's real interpreters, the newest patch first, and not its shims", () => {
    const versions = join(root, "home", ".pyenv", "versions");
    for (const version of ["3.11.7", "3.12.1", "3.12.10", "3.13.0", "2.7.18"]) mkdirSync(join(versions, version), { recursive: true });
    const found = candidatesOf({}, join(root, "home")).filter((command) => command.startsWith(versions));
    expect(found.map((command) => basename(dirname(dirname(command))))).toEqual(["3.13.0", "3.12.10", "3.12.1"]);
  });
});
