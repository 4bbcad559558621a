import { join } from "node:path";
import { defineConfig, normalizePath, type Plugin } from "vite";

/** The package's own, as Vite names it; others have a `dist/index.js` too. */
const builtIndex = normalizePath(join(import.meta.dirname, "..", "..", "dist", "index.js"));

/**
 * Lets the test page watch the limiter of the built package, which does not export it. Fails where the build has no such name.
 */
const exportLimiter: Plugin = {
  name: "export-limiter",
  transform: (code, id) =>
    id === builtIndex ? { code: `${code}\nexport { ByteBudget } from "./tasks/budget.js";\n`, map: null } : undefined,
};

/** Bundles the test pages as a user's bundler would: the package comes by its name, from `dist`. */
export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  logLevel: "warn",
  plugins: [exportLimiter],
  worker: { format: "es" },
  build: {
    target: "es2022",
    outDir: join(import.meta.dirname, "..", "results", "page"),
    emptyOutDir: true,
    minify: false,
    sourcemap: true,
    rolldownOptions: { input: ["index.html", "memory.html"].map((page) => join(import.meta.dirname, page)) },
  },
});
