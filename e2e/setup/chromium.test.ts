import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chromiumArguments, chromiumPlaces, ensureChromium, findChromium } from "./chromium.mjs";
import { recordInstalls } from "./commands.mjs";

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "orbax-webgpu-chromium-"));
});
afterEach(() => rmSync(home, { recursive: true }));

/** A program that answers `--version`. */
function fakeChromium(path: string, answer = "Chromium 156.0.1.2", code = 0): string {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\necho "${answer}"\nexit ${code}\n`);
  chmodSync(file, 0o755);
  return file;
}

const machine = (env: Record<string, string> = {}) => ({
  home,
  top: join(home, "top"),
  platform: "freebsd" as const,
  env: { PATH: join(home, "bin"), ...env },
});
const finished = (code: number) => ({ code, output: "the installer's words", stdout: "", stderr: "" });

describe("findChromium", () => {
  it("takes CHROMIUM_PATH before all else", () => {
    fakeChromium("bin/chromium");
    const chosen = fakeChromium("elsewhere/chrome");
    expect(findChromium(machine({ CHROMIUM_PATH: chosen }))).toBe(chosen);
  });

  it("refuses a CHROMIUM_PATH that does not run", () => {
    expect(() => findChromium(machine({ CHROMIUM_PATH: join(home, "nothing") }))).toThrow(/CHROMIUM_PATH .* correct it/);
  });

  it("passes over programs that fail or are too old", () => {
    fakeChromium("bin/chromium", "this is a stub, install the snap", 1);
    fakeChromium("bin/chromium-browser", "Chromium 90.0.1.2");
    const good = fakeChromium("bin/google-chrome", "Google Chrome 140.0.7.8");
    expect(findChromium(machine())).toBe(good);
  });

  it("finds the newest one that Playwright keeps, after the system's", () => {
    fakeChromium(".cache/ms-playwright/chromium-999/chrome-linux/chrome");
    const newest = fakeChromium(".cache/ms-playwright/chromium-1255/chrome-linux64/chrome");
    expect(findChromium(machine())).toBe(newest);
    const system = fakeChromium("bin/microsoft-edge", "Microsoft Edge 150.0.1.2");
    expect(findChromium(machine())).toBe(system);
  });

  it("looks into PLAYWRIGHT_BROWSERS_PATH", () => {
    const kept = fakeChromium("browsers/chromium-7/chrome-linux/chrome");
    expect(findChromium(machine({ PLAYWRIGHT_BROWSERS_PATH: join(home, "browsers") }))).toBe(kept);
  });

  it("looks where the other systems keep their programs", () => {
    const mac = fakeChromium("Applications/Google Chrome.app/Contents/MacOS/Google Chrome");
    expect(chromiumPlaces({ ...machine(), platform: "darwin" })).toEqual([mac]);
    const windows = fakeChromium("Microsoft/Edge/Application/msedge.exe");
    expect(chromiumPlaces({ ...machine({ PROGRAMFILES: home }), platform: "win32" })).toEqual([windows]);
  });
});

describe("ensureChromium", () => {
  it("runs no command where there is one", async () => {
    const path = fakeChromium("bin/chromium");
    const { run, installs } = recordInstalls({ run: async () => finished(0) });
    expect(await ensureChromium({ run, machine: machine() })).toBe(path);
    expect(installs).toEqual([]);
  });

  it("installs with Playwright, and a second time nothing", async () => {
    const { run, installs } = recordInstalls({
      run: async () => {
        fakeChromium(".cache/ms-playwright/chromium-1255/chrome-linux64/chrome");
        return finished(0);
      },
    });
    const lines: string[] = [];
    const path = await ensureChromium({ run, log: (line) => lines.push(line), machine: machine() });
    expect(path).toContain("chromium-1255");
    expect(lines).toEqual(["no Chromium found; installing one with Playwright"]);
    expect(await ensureChromium({ run, machine: machine() })).toBe(path);
    expect(installs).toEqual([expect.stringMatching(/cli\.js install --no-shell chromium$/)]);
  });

  it("installs with apt where Playwright's download fails and root may", async () => {
    fakeChromium("top/usr/bin/apt-get");
    const { run, installs } = recordInstalls({
      run: async (command, args) => {
        if (command === "apt-get" && args[0] === "install") fakeChromium("bin/chromium");
        return finished(command === "apt-get" ? 0 : 1);
      },
    });
    const debian = { ...machine(), platform: "linux" as const, isRoot: true };
    expect(await ensureChromium({ run, machine: debian })).toBe(join(home, "bin", "chromium"));
    expect(installs.slice(2)).toEqual(["apt-get update", "apt-get install -y --no-install-recommends chromium"]);
  });

  it("says what was tried and what to do where nothing works", async () => {
    const { run } = recordInstalls({ run: async () => finished(1) });
    const failure = ensureChromium({ run, machine: machine() });
    await expect(failure).rejects.toThrow(
      /npx playwright install chromium[\s\S]*CHROMIUM_PATH=[\s\S]*Playwright: ended with code 1: the installer's words/,
    );
  });
});

describe("chromiumArguments", () => {
  it("leaves the sandbox only to root's Chromium", () => {
    expect(chromiumArguments({ root: true })).toContain("--no-sandbox");
    expect(chromiumArguments({ root: false })).not.toContain("--no-sandbox");
  });
});
