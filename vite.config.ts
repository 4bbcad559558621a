import { defineConfig } from "vitest/config";
import manifest from "./package.json" with { type: "json" };

const external = [/^node:/, ...Object.keys(manifest.dependencies).map((name) => new RegExp(`^${name}(/|$)`))];

/** Builds the library (the dependencies are left to the user's bundler) and runs the unit tests. */
export default defineConfig({
  build: {
    target: "es2022",
    sourcemap: true,
    minify: false,
    lib: { entry: { index: "src/index.ts", node: "src/node.ts" }, formats: ["es"] },
    // A file for each module, so that a bundler takes what is imported and no more.
    rolldownOptions: { external, output: { preserveModules: true, preserveModulesRoot: "src" } },
  },
  // A worker is one text, in a file of its own that comes with the first job.
  worker: { format: "es", rolldownOptions: { output: { minify: true, codeSplitting: false } } },
  test: {
    include: ["src/**/*.test.ts", "e2e/{bench,setup,server}/**/*.test.ts", "demo/**/*.test.ts"],
    testTimeout: 20_000, // a busy machine of two cores is slow, not wrong
  },
});
