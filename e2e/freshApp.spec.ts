import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "playwright/test";
import { build } from "vite";
import { type PackedProject, packedProject } from "./package/packedProject.js";
import { type RunningServer, startServer } from "./server/server.mjs";

// The packed package in an application that has nothing else, built by Vite with its defaults and opened in the browser.

const page = `<!doctype html><title>fresh</title><output></output><script type="module" src="./main.ts"></script>`;

const main = `
import { openCheckpoint, type RestoredTree } from "orbax-webgpu";

const address = new URLSearchParams(location.search).get("checkpoint") ?? "";
const adapter = await navigator.gpu.requestAdapter();
const checkpoint = await openCheckpoint(address, { item: "model" });
const device = await adapter?.requestDevice({ requiredLimits: checkpoint.requiredLimits() });
const out = await checkpoint.restore({ device, select: "out/**" });
const bias = await checkpoint.read("out/bias/value", { region: [[2, 4]] });
const names = (tree: RestoredTree): unknown =>
  tree !== null && typeof tree === "object" && !("dtype" in tree) ? Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, names(value as RestoredTree)])) : "buffer" in (tree as object);
document.querySelector("output")!.textContent = JSON.stringify({ out: names(out), bias: bias.shape });
`;

let project: PackedProject;
let server: RunningServer;

test.beforeAll(async () => {
  project = await packedProject();
  const app = join(project.consumer, "app");
  mkdirSync(app);
  writeFileSync(join(app, "index.html"), page);
  writeFileSync(join(app, "main.ts"), main);
  await build({ root: app, configFile: false, logLevel: "error", build: { target: "es2022" } });
  server = await startServer({ root: join(app, "dist") });
});
test.afterAll(async () => {
  await server.close();
  project.remove();
});

test("restores, selects and reads from a checkpoint", async ({ page }) => {
  const checkpoints = await startServer({ root: join(import.meta.dirname, "fixtures", "data", "digits", "checkpoints") });
  try {
    await page.goto(`${server.url}/index.html?checkpoint=${encodeURIComponent(checkpoints.url)}`);
    await expect(page.locator("output")).toHaveText(
      JSON.stringify({ out: { out: { bias: { value: true }, kernel: { value: true } } }, bias: [2] }),
    );
    const chunks = server.requests.map(({ path }) => path).filter((path) => path.endsWith(".js"));
    expect(chunks.some((path) => /restoring/.test(path))).toBe(true);
    expect(chunks.filter((path) => /blosc|lz4/.test(path))).toEqual([]);
  } finally {
    await checkpoints.close();
  }
});
