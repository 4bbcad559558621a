import { join } from "node:path";
import { test as base } from "playwright/test";
import { build } from "vite";
import { serveDemo } from "../../demo/serve.mjs";

export { expect } from "playwright/test";

const root = join(import.meta.dirname, "..", "..");

interface DemoFixtures {
  /** Errors that the page's console may show, such as those of requests that a test makes fail. */
  readonly expectedErrors: RegExp | undefined;
}

/** Playwright's `test` with the demo built and served as `npm run demo` does; an error in the page's console fails the test. */
export const test = base.extend<DemoFixtures, { demo: Awaited<ReturnType<typeof serveDemo>> }>({
  expectedErrors: [undefined, { option: true }],
  // A page that one serves is not reached by what a test lets requests meet.
  serviceWorkers: "block",
  demo: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads a fixture's needs from this pattern
    async ({}, use, { parallelIndex }) => {
      const built = join(root, "e2e", "results", `demo-${parallelIndex}`); // workers that run side by side build each their own
      await build({ configFile: join(root, "demo", "vite.config.ts"), logLevel: "error", build: { outDir: built } });
      const server = await serveDemo({ root, built });
      await use(server);
      await server.close();
    },
    { scope: "worker" },
  ],
  page: async ({ page, expectedErrors }, use) => {
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => {
      // A server that lists its folders by pages has no such file, which is asked for first.
      const isListAbsent = message.location().url.endsWith("/orbax-webgpu-index.json");
      if (message.type() === "error" && !isListAbsent) errors.push(message.text());
    });
    await use(page);
    const unexpected = errors.filter((text) => !expectedErrors?.test(text));
    if (unexpected.length > 0) throw new Error(`the page's console said:\n${unexpected.join("\n")}`);
  },
});
