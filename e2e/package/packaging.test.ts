import { readFileSync } from "node:fs";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { expect, inject, it } from "vitest";
import { runCommand } from "../setup/commands.mjs";
import { toolOf } from "../setup/tools.mjs";

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

it("has no unused file, export or dependency", async () => {
  const { code, output } = await tool("knip", "knip", ["--config", "e2e/package/knip.json", "--no-progress"]);
  expect(code, output).toBe(0);
});
