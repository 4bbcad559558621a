import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { recordInstalls } from "./commands.mjs";
import { missingWasmTools } from "./wasmTools.mjs";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "orbax-webgpu-tools-"));
  const folder = join(root, "src", "codecs", "zstd", "wasm");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "recorded.json"), JSON.stringify({ tools: { clang: "19.1.7", lld: "19.1.7", "wasi-libc": "1~git" } }));
  mkdirSync(join(root, "usr", "bin"), { recursive: true });
  writeFileSync(join(root, "usr", "bin", "apt-get"), "");
});
afterEach(() => rmSync(root, { recursive: true }));

const answers: Record<string, string> = {
  "clang-19": "Debian clang version 19.1.7 (3~deb12u1)\nTarget: x86_64",
  "wasm-ld-19": "Debian LLD 19.1.7 (compatible with GNU linkers)",
  "dpkg-query": "installed 1~git",
};

/** A Debian that root rules, where these commands answer; apt makes all of them answer. */
function debian(there: Record<string, string>, { aptFails = false } = {}) {
  const known = { ...there };
  const recorded = recordInstalls({
    run: async (command, args) => {
      if (command === "apt-get" && aptFails) return { code: 100, stdout: "", stderr: "", output: "E: no such package" };
      if (command === "apt-get" && args[0] === "install") Object.assign(known, answers);
      const stdout = command === "apt-get" ? "" : known[command];
      return { code: stdout === undefined ? 127 : 0, stdout: stdout ?? "", stderr: "", output: stdout ?? "" };
    },
  });
  const missing = (install: boolean) =>
    missingWasmTools({ root, run: recorded.run, install, machine: { platform: "linux", top: root, isRoot: true } });
  return { ...recorded, missing };
}

it("is content with the recorded tools, and installs nothing", async () => {
  const { missing, installs } = debian(answers);
  expect(await missing(true)).toBeUndefined();
  expect(installs).toEqual([]);
});

it("installs what is missing, once, where it may", async () => {
  const { missing, installs } = debian({ "clang-19": answers["clang-19"] ?? "" });
  expect(await missing(false)).toMatch(
    /lld 19\.1\.7 \(found: none\), wasi-libc 1~git \(found: none\); Debian 12 has them: apt-get install/,
  );
  expect(installs).toEqual([]);
  expect(await missing(true)).toBeUndefined();
  expect(await missing(true)).toBeUndefined();
  expect(installs).toEqual(["apt-get update", "apt-get install -y --no-install-recommends clang-19 lld-19 wasi-libc"]);
});

it("says which versions differ, and does not replace them", async () => {
  const { missing, installs } = debian({ ...answers, "clang-19": "Ubuntu clang version 19.1.1" });
  expect(await missing(true)).toContain("it takes clang 19.1.7 (found: 19.1.1);");
  expect(installs).toEqual([]);
});

it("says why apt could not install them", async () => {
  const { missing } = debian({}, { aptFails: true });
  expect(await missing(true)).toMatch(/clang 19\.1\.7 \(found: none\).*; apt-get ended with code 100: E: no such package/);
});
