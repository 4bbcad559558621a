import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, type Page, test } from "playwright/test";
import { build } from "vite";
import { type PackedProject, packedProject } from "./package/packedProject.js";
import { type RunningServer, startServer } from "./server/server.mjs";
import { largeArray } from "./synthetic/largeArray.js";
import { stepFiles } from "./synthetic/stepFiles.js";

const mebibyte = 2 ** 20;

// The packed package in an application that has nothing else, built by Vite with its defaults and opened in the browser.

const page = `<!doctype html><title>fresh</title><output></output><script type="module" src="./main.ts"></script>`;

const main = `
import { openCheckpoint, type RestoredTree } from "orbax-webgpu";

const asked = new URLSearchParams(location.search);
const adapter = await navigator.gpu.requestAdapter();
const checkpoint = await openCheckpoint(asked.get("checkpoint") ?? "", { item: "model" });
const device = await adapter?.requestDevice({ requiredLimits: checkpoint.requiredLimits() });
const parts = async () => {
const out = await checkpoint.restore({ device, select: "out/**" });
const bias = await checkpoint.read("out/bias/value", { region: [[2, 4]] });
const names = (tree: RestoredTree): unknown =>
  tree !== null && typeof tree === "object" && !("dtype" in tree) ? Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, names(value as RestoredTree)])) : "buffer" in (tree as object);
return { out: names(out), bias: bias.shape };
};
const whole = async () => Object.keys((await checkpoint.restore({ device })) as object);
document.querySelector("output")!.textContent = JSON.stringify(await (asked.has("whole") ? whole() : parts()));
`;

let project: PackedProject;
let app: string;
let server: RunningServer;

test.beforeAll(async () => {
  project = await packedProject();
  app = join(project.consumer, "app");
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

/** A page that loads the package's own files, as they are, from another origin. */
const unbundled = (host: string) => `<!doctype html><title>unbundled</title><output></output>
<script type="importmap">${JSON.stringify({ imports: { "orbax-webgpu": `${host}/orbax-webgpu/dist/index.js`, "zod/mini": `${host}/zod/mini/index.js` } })}</script>
<script type="module">
import { openCheckpoint } from "orbax-webgpu";
const checkpoint = await openCheckpoint(new URLSearchParams(location.search).get("checkpoint"), { item: "model" });
document.querySelector("output").textContent = JSON.stringify((await checkpoint.restore()).w.shape);
</script>`;

test("restores on workers without a bundler, from another origin, by an import map that names zod alone", async ({ page }) => {
  const installed = join(project.consumer, "node_modules");
  const modules = await startServer({ root: installed, mounts: { "/zod/": realpathSync(join(installed, "zod")) } });
  const pages = await startServer({ root: new Map([["index.html", new TextEncoder().encode(unbundled(modules.url))]]) });
  const files = stepFiles(1, "model", [(await largeArray(8 * mebibyte, 1)).inChunksOf(4 * mebibyte)]);
  const checkpoints = await startServer({ root: files });
  try {
    await page.goto(`${pages.url}/index.html?checkpoint=${encodeURIComponent(`${checkpoints.url}/1`)}`);
    await expect(page.locator("output")).toHaveText(`[${2 * mebibyte}]`, { timeout: 30_000 }); // 100 files
    expect(page.workers().length).toBeGreaterThan(0);
  } finally {
    await Promise.all([modules, pages, checkpoints].map((running) => running.close()));
  }
});

/** The app's scripts that a page loaded: their names, and their bytes, each gzipped. */
interface LoadedScripts {
  readonly names: readonly string[];
  readonly gzipped: number;
}

function scriptsOf(paths: readonly string[]): LoadedScripts {
  const gzipped = paths.reduce((sum, path) => sum + gzipSync(readFileSync(join(app, "dist", path)), { level: 9 }).length, 0);
  return { names: paths.map((path) => path.replace(/^.*\//, "")), gzipped };
}

/** Opens and restores a step of 8 MiB in a database of zstd frames: enough for workers to be started. */
async function restoreWhole(page: Page, isWanted: (path: string) => boolean): Promise<LoadedScripts> {
  const files = stepFiles(1, "model", [(await largeArray(8 * mebibyte, 1)).inChunksOf(4 * mebibyte)]);
  const checkpoints = await startServer({ root: new Map([...files].filter(([path]) => isWanted(path))) });
  const loaded = new Set<string>();
  page.on("request", (request) => loaded.add(new URL(request.url()).pathname));
  let workers = 0;
  page.on("worker", () => {
    workers += 1;
  });
  try {
    await page.goto(`${server.url}/index.html?whole&checkpoint=${encodeURIComponent(`${checkpoints.url}/1`)}`);
    await expect(page.locator("output")).toHaveText(/^\[".*"\]$/);
    expect(workers).toBeGreaterThan(0);
    return scriptsOf([...loaded].filter((path) => path.endsWith(".js")));
  } finally {
    await checkpoints.close();
  }
}

// Measured on what really comes, decoder and workers included: what `e2e/package/size.test.ts` sums up is all that could.
for (const [writer, isWanted, most] of [
  ["Orbax", (path: string) => !/\/(?:metadata|dtypes)\//.test(path), { gzipped: 117_000, requests: 12 }],
  ["substrax, whose record is checked,", () => true, { gzipped: 123_500, requests: 15 }],
] as const) {
  test(`loads for a whole restore of a step of ${writer} what that needs`, async ({ page }) => {
    const { names, gzipped } = await restoreWhole(page, isWanted);
    console.info(`a whole restore of a step of ${writer} loads ${names.length} scripts, ${gzipped} bytes gzipped`);
    expect(names.filter((name) => /^(?:chunkWorker|zstdWasm)/.test(name))).toHaveLength(2);
    const rare =
      /^(?:blosc|lz4|cast|hostArray|matchTemplate|originFolder|rawArray|readRegion|rootView|saving|selection|streamByFzstd|zarrJson)/;
    expect(names.filter((name) => rare.test(name))).toEqual([]);
    expect(names.length).toBeLessThanOrEqual(most.requests);
    expect(gzipped).toBeLessThanOrEqual(most.gzipped);
  });
}
