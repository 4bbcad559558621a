import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, type Page, test } from "playwright/test";
import { build, preview } from "vite";
import { findChromium } from "../setup/chromium.mjs";
import { runCommand } from "../setup/commands.mjs";
import { freePort } from "../setup/freePort.js";
import { makeProject } from "./project.js";

// The programs of docs/recipes, copied into a project that has the packed package, bundled by Vite and run on a page. Each engine evaluates the
// digits network on restored buffers, and gives the logits that Flax gave.

const digits = join(import.meta.dirname, "..", "fixtures", "data", "digits");

let project: Awaited<ReturnType<typeof makeProject>>;
let served: { readonly url: string; close(): Promise<void> };

test.describe.configure({ mode: "serial" });

test.beforeAll(async () => {
  project = await makeProject();
  await build({ root: project.folder, logLevel: "error", build: { target: "esnext" } });
  const server = await preview({ root: project.folder, appType: "mpa", logLevel: "error", preview: { port: 0, host: "localhost" } });
  served = { url: server.resolvedUrls?.local[0] ?? "", close: () => server.close() };
});

test.afterAll(async () => {
  await served?.close();
  project?.remove();
});

interface TestImages {
  readonly images: string;
  readonly steps: Readonly<Record<string, { readonly firstLogits: readonly (readonly number[])[] }>>;
}

async function facts() {
  const { images, steps }: TestImages = JSON.parse(await readFile(join(digits, "test-images.json"), "utf8"));
  const logits = steps["1200"]?.firstLogits.flat() ?? [];
  const count = logits.length / 10;
  const pixels = [...Buffer.from(images, "base64").subarray(0, count * 64)].map((value) => value / 16);
  return { logits, pixels };
}

type Recipe = "onnxruntimeWeb" | "tensorflow" | "jaxJs" | "typegpu" | "saveBack";

/** What the page has; its types are checked in the project, which alone has the engines. */
interface RecipePage {
  readonly recipes: Readonly<Record<Recipe, (checkpoints: string, values: readonly number[]) => Promise<Iterable<number>>>>;
}

/** What a recipe gives on a page of its own. */
async function result(page: Page, name: Recipe, values: readonly number[]): Promise<number[]> {
  await page.goto(served.url);
  await page.waitForFunction(() => "recipes" in window);
  return page.evaluate(
    async ({ name, values }) => {
      const { recipes } = window as unknown as RecipePage;
      return [...(await recipes[name](new URL("checkpoints/", location.href).href, values))];
    },
    { name, values: [...values] },
  );
}

for (const recipe of ["onnxruntimeWeb", "tensorflow", "jaxJs"] as const) {
  test(`${recipe} evaluates the network on restored buffers`, async ({ page }) => {
    const { logits, pixels } = await facts();
    expect(logits.length).toBeGreaterThan(0);
    const received = await result(page, recipe, pixels);
    expect(received).toHaveLength(logits.length);
    for (const [index, logit] of logits.entries()) expect(received[index], `logit ${index}`).toBeCloseTo(logit, 3);
  });
}

test("TypeGPU reads a restored buffer by its schema", async ({ page }) => {
  const bias = await result(page, "typegpu", []);
  expect(bias.map(Math.fround)).toHaveLength(10);
  expect(bias.slice(0, 2)).toEqual([0.05620269849896431, -0.12199415266513824]);
});

test("a tensor of TensorFlow.js is saved from its buffer", async ({ page }) => {
  expect(await result(page, "saveBack", [1, -2.5, 3])).toEqual([2, -5, 6]);
});

test("the recipes are sound TypeScript", async () => {
  const compilerOptions = {
    target: "ES2022",
    module: "ESNext",
    moduleResolution: "Bundler",
    lib: ["ES2022", "ESNext.Disposable", "DOM", "DOM.Iterable"],
    types: ["node", "vite/client"],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
  };
  await writeFile(join(project.folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts", "recipes/**/*.ts"] }));
  const tsc = join(project.folder, "node_modules", "typescript", "bin", "tsc");
  const { output } = await runCommand(process.execPath, [tsc, "-p", project.folder], { timeoutSeconds: 600 });
  expect(output).toBe("");
});

test("the Playwright recipe passes in a project of its own", async () => {
  const config = join(project.folder, "playwright", "playwright.config.ts");
  await writeFile(config, (await readFile(config, "utf8")).replaceAll("5199", `${await freePort()}`));
  const playwright = join(project.folder, "node_modules", "playwright", "cli.js");
  const { code, output } = await runCommand(
    process.execPath,
    [playwright, "test", "--config", "playwright", "--timeout", "600000", "--reporter", "line"],
    {
      cwd: project.folder,
      timeoutSeconds: 600,
      env: { CHROMIUM_PATH: findChromium() ?? "" },
    },
  );
  expect(code, output).toBe(0);
  expect(output).toContain("1 passed");
});
