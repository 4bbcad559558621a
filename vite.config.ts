import { join, relative } from "node:path";
import { defineConfig } from "vitest/config";
import manifest from "./package.json" with { type: "json" };

const external = [/^node:/, ...Object.keys(manifest.dependencies).map((name) => new RegExp(`^${name}(/|$)`))];

const source = join(import.meta.dirname, "src");

/**
 * What a page loads one after the other when it opens a checkpoint and restores it; dtypes are in what exports and later steps share. The budget,
 * which the tests watch, is a step of its own with all that it needs: a file that imports the one that imports it is a cycle, of which bundlers warn.
 */
const steps = [
  ["tasks/budget"],
  ["checkpoint/openCheckpoint", "arrays/dtypes", "arrays/spec"],
  ["checkpoint/openPlace"],
  ["checkpoint/restore/restoring"],
];

/** Modules that are used without any other, and the entries. */
const alone = /\/(?:errors|index|node)\.ts$/;

/**
 * The file of the package that a module goes into: that of the first step which needs it, so that a page makes few requests whatever bundles it;
 * else one of its own, so that a bundler takes what is imported and no more.
 */
function partOf(id: string, modules: { getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null }): string | null {
  if (!id.startsWith(source) || id.includes("?")) return null;
  const reaches = (from: string, seen = new Set<string>()): boolean => {
    if (from === id) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    return modules.getModuleInfo(from)?.importedIds.some((next) => reaches(next, seen)) ?? false;
  };
  const step = alone.test(id) ? undefined : steps.find((roots) => roots.some((root) => reaches(join(source, `${root}.ts`))));
  return step?.[0] ?? relative(source, id).replace(/\.ts$/, "");
}

/**
 * Writes `(await import("./a.js")).a_exports` for `await import("./a.js").then((n) => n.a_exports)`: applications that Vite 5 and 6 build get of
 * `const { a } = await import("./a.js").then(…)` only the member `a` of the file, and so undefined of the object that was meant.
 */
const plainImports = {
  name: "plain-imports",
  renderChunk: (code: string) => ({
    code: code.replace(/await (import\("[^"]+"\))\.then\(\((\w+)\) => \2\.(\w+)\)/g, "(await $1).$3"),
    map: null,
  }),
};

/** Builds the library (the dependencies are left to the user's bundler) and runs the unit tests. */
export default defineConfig({
  plugins: [plainImports],
  build: {
    target: "es2022",
    sourcemap: true,
    minify: false,
    lib: { entry: { index: "src/index.ts", node: "src/node.ts" }, formats: ["es"] },
    rolldownOptions: {
      external,
      preserveEntrySignatures: "allow-extension",
      output: {
        entryFileNames: "[name].js",
        chunkFileNames: "[name].js",
        minifyInternalExports: false,
        codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: partOf, debugName: "steps" }] },
      },
    },
  },
  // A worker is one text, in a file of its own that comes with the first job.
  worker: { format: "es", rolldownOptions: { output: { minify: true, codeSplitting: false } } },
  test: {
    include: ["src/**/*.test.ts", "e2e/{bench,setup,server}/**/*.test.ts", "demo/**/*.test.ts"],
    // A busy machine is slow, not wrong: these end only what hangs.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
