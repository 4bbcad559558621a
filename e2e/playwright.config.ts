import { join } from "node:path";
import { defineConfig } from "playwright/test";
import { chromiumArguments, findChromium } from "./setup/chromium.mjs";

const executablePath = findChromium();
if (executablePath === undefined) throw new Error("there is no Chromium on this machine; `npm test` installs one and runs these tests");

/** Browser tests: real Chromium, real WebGPU (SwiftShader where there is no GPU), the built package. */
export default defineConfig({
  testDir: import.meta.dirname,
  outputDir: join(import.meta.dirname, "results", "playwright"),
  globalSetup: join(import.meta.dirname, "page", "buildPage.ts"),
  projects: [
    { name: "browser", testMatch: "*.spec.ts", testIgnore: ["interop/**", "bench/**", "recipes/**", "memory.spec.ts"] },
    // Alone on the machine: how much a process holds depends on how soon it gets to let go.
    { name: "memory", testMatch: "memory.spec.ts" },
    { name: "recipes", testMatch: "recipes/*.spec.ts" },
    { name: "interop", testMatch: ["interop/*.spec.ts", "bench/*.spec.ts"] },
  ],
  workers: 2,
  // A busy machine is slow, not wrong: these end only what hangs.
  timeout: 600_000,
  expect: { timeout: 120_000 },
  forbidOnly: true,
  use: { headless: true, launchOptions: { executablePath, args: chromiumArguments() } },
});
