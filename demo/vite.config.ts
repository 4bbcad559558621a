import { join } from "node:path";
import { defineConfig } from "vite";

/** Bundles the demo as a user's bundler would: the package comes by its name, from `dist`. */
export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  logLevel: "warn",
  build: {
    target: "es2022",
    outDir: join(import.meta.dirname, "dist"),
    emptyOutDir: true,
    sourcemap: true,
    rolldownOptions: { input: ["index.html", "train.html"].map((page) => join(import.meta.dirname, page)) },
  },
});
