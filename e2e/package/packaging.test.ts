import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { expect, inject, it } from "vitest";
import { runCommand } from "../setup/commands.mjs";
import { toolOf } from "../setup/tools.mjs";
import { warningsOf } from "./bundle.js";

const root = join(import.meta.dirname, "..", "..");
const tool = toolOf({ root, run: runCommand });
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

it("has nothing that publint objects to", async () => {
  const tarball = new Uint8Array(readFileSync(inject("tarball"))).buffer;
  const { messages } = await publint({ pack: { tarball }, strict: true });
  expect(messages.map((message) => formatMessage(message, manifest, { color: false }))).toEqual([]);
});

it("has types that every way of resolving ES modules finds", async () => {
  const { code, output } = await tool("@arethetypeswrong/cli", "attw", [
    inject("tarball"),
    "--profile",
    "esm-only",
    "--no-definitely-typed",
  ]);
  expect(code, output).toBe(0);
});

it("has nothing that bundlers warn of, such as modules that import each other", async () => {
  expect(await warningsOf(inject("consumer"))).toEqual([]);
});

it("imports its parts in no way of which Vite 5 and 6 make undefined: they take but the member, and then what follows", () => {
  const dist = join(inject("consumer"), "node_modules", "orbax-webgpu", "dist");
  const scripts = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".js"));
  const lost = /\{[^{}.=]+\}\s*=\s*await\s+import\([^)]+\)\s*[.[]/;
  expect(scripts.length).toBeGreaterThan(100);
  expect(scripts.filter((name) => lost.test(readFileSync(join(dist, name), "utf8")))).toEqual([]);
});

it("has no unused file, export or dependency", async () => {
  const { code, output } = await tool("knip", "knip", ["--config", "e2e/package/knip.json", "--no-progress"]);
  expect(code, output).toBe(0);
});
