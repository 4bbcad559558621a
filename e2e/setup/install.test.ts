import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { recordInstalls } from "./commands.mjs";
import { ensurePackages, holdsLockedPackages, stampOf } from "./install.mjs";

const lock = (version: string) =>
  JSON.stringify({ packages: { "": {}, "node_modules/a": { version }, "node_modules/b": { version: "2.0.0", optional: true } } });

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "orbax-webgpu-install-"));
  writeFileSync(join(root, "package-lock.json"), lock("1.0.0"));
});
afterEach(() => rmSync(root, { recursive: true }));

/** An npm that installs what the lock says, or fails with a code. */
function fakeNpm(code = 0) {
  return recordInstalls({
    run: async () => {
      if (code === 0) writeRecord(readFileSync(join(root, "package-lock.json"), "utf8"));
      return { code, output: "npm's words", stdout: "", stderr: "" };
    },
  });
}

function writeRecord(text: string): void {
  mkdirSync(join(root, "node_modules"), { recursive: true });
  writeFileSync(join(root, "node_modules", ".package-lock.json"), text);
}

const stampFile = () => join(root, "node_modules", ".orbax-webgpu-stamp");

describe("ensurePackages", () => {
  it("installs on a fresh clone, and the second time runs no command", async () => {
    const { run, installs } = fakeNpm();
    expect(await ensurePackages({ root, run })).toBe(true);
    expect(installs).toHaveLength(1);
    expect(installs[0]).toContain(" ci");
    expect(await ensurePackages({ root, run })).toBe(false);
    expect(installs).toHaveLength(1);
  });

  it("installs again when the lock has changed", async () => {
    const { run, installs } = fakeNpm();
    await ensurePackages({ root, run });
    writeFileSync(join(root, "package-lock.json"), lock("1.0.1"));
    expect(await ensurePackages({ root, run })).toBe(true);
    expect(installs).toHaveLength(2);
  });

  it("takes over what npm itself installed from the same lock", async () => {
    writeRecord(lock("1.0.0"));
    const { run, installs } = fakeNpm();
    expect(await ensurePackages({ root, run })).toBe(false);
    expect(installs).toEqual([]);
    expect(readFileSync(stampFile(), "utf8")).toBe(stampOf(lock("1.0.0")));
  });

  it("installs again for another Node", async () => {
    writeRecord(lock("1.0.0"));
    writeFileSync(stampFile(), stampOf(lock("1.0.0")).replace(process.version, "v1.0.0"));
    expect(await ensurePackages({ root, run: fakeNpm().run })).toBe(true);
  });

  it("says what npm said when it failed, and leaves no stamp", async () => {
    await expect(ensurePackages({ root, run: fakeNpm(7).run })).rejects.toThrow(/code 7[\s\S]*npm's words/);
    expect(existsSync(stampFile())).toBe(false);
  });
});

describe("holdsLockedPackages", () => {
  it("lets optional packages be absent, and no others", () => {
    expect(holdsLockedPackages(lock("1.0.0"), JSON.stringify({ packages: { "node_modules/a": { version: "1.0.0" } } }))).toBe(true);
    expect(holdsLockedPackages(lock("1.0.0"), JSON.stringify({ packages: { "node_modules/b": { version: "2.0.0" } } }))).toBe(false);
  });

  it("refuses other versions, other packages, no record and a broken one", () => {
    expect(holdsLockedPackages(lock("1.0.0"), lock("1.0.1"))).toBe(false);
    expect(holdsLockedPackages(JSON.stringify({ packages: {} }), lock("1.0.0"))).toBe(false);
    expect(holdsLockedPackages(lock("1.0.0"), undefined)).toBe(false);
    expect(holdsLockedPackages(lock("1.0.0"), "{")).toBe(false);
  });
});
