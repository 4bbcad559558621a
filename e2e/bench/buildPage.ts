import { join, resolve } from "node:path";
import { build } from "vite";

const root = join(import.meta.dirname, "..", "..");
const results = join(root, "e2e", "results", "bench");

/**
 * Builds the package as it is published, and the page as a user's bundler builds one. The bench keeps a build of its own, so that it
 * does not change `dist` under somebody who uses it.
 * @param folder Of another built package to measure.
 */
export async function buildPage(folder?: string): Promise<void> {
  const own = join(results, "package");
  if (folder === undefined) {
    await build({ root, configFile: join(root, "vite.config.ts"), logLevel: "error", build: { outDir: own, emptyOutDir: true } });
  }
  const index = join(resolve(folder ?? own), "index.js");
  await build({
    configFile: join(import.meta.dirname, "page", "vite.config.ts"),
    logLevel: "error",
    resolve: { alias: { "orbax-webgpu": index } },
  });
}
