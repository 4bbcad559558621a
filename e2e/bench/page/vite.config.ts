import { join } from "node:path";
import { defineConfig } from "vite";

/** Bundles the bench's page as a user's bundler would: the package comes by its name, from `dist`. */
export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  logLevel: "warn",
  worker: { format: "es" },
  build: {
    target: "es2022",
    outDir: join(import.meta.dirname, "..", "..", "results", "bench", "page"),
    emptyOutDir: true,
    minify: false,
    sourcemap: true,
  },
});
