import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { defineConfig, type Plugin } from "vite";

const outDir = join(import.meta.dirname, "dist");

/** Larger files hold codecs that no checkpoint of the demo uses, in bytes. */
const largest = 512 * 1024;

/** Writes the service worker that keeps the built files, and before its text their list. */
function keepFiles(): Plugin {
  let folder = outDir;
  return {
    name: "keep-files",
    configResolved: ({ root, build }) => {
      folder = resolve(root, build.outDir);
    },
    closeBundle() {
      const built = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => file.replaceAll("\\", "/"));
      const isKept = (file: string) => {
        const status = statSync(join(folder, file));
        return status.isFile() && status.size <= largest && !/\.map$|^offline\.js$/.test(file);
      };
      const files = ["./", ...built.filter(isKept).sort()];
      const worker = readFileSync(join(import.meta.dirname, "offline", "serviceWorker.js"), "utf8");
      writeFileSync(join(folder, "offline.js"), `const files = ${JSON.stringify(files)};\n\n${worker}`);
    },
  };
}

/** Bundles the demo as a user's bundler would: the package comes by its name, from `dist`. */
export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  logLevel: "warn",
  plugins: [keepFiles()],
  build: {
    target: "es2022",
    outDir,
    emptyOutDir: true,
    sourcemap: true,
    rolldownOptions: { input: ["index.html", "train.html"].map((page) => join(import.meta.dirname, page)) },
  },
});
