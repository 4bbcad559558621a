import { join } from "node:path";
import { defineConfig } from "vite";

/** Bundles the test page as a user's bundler would: the package comes by its name, from `dist`. */
export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  logLevel: "warn",
  build: {
    target: "es2022",
    outDir: join(import.meta.dirname, "..", "results", "page"),
    emptyOutDir: true,
    minify: false,
    sourcemap: true,
  },
});
