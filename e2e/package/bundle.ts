import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { build, type Rolldown } from "vite";

/** One file that a bundler made. */
export interface BundledFile {
  readonly name: string;
  readonly code: string;
  /** Names of the files that it loads at once. */
  readonly imports: readonly string[];
}

/** Bundles a one-line program with the packed package and all its dependencies, as a user's project would. The entry file is first. */
export async function bundle(consumer: string, source: string, { minify = false } = {}): Promise<BundledFile[]> {
  writeFileSync(join(consumer, "entry.js"), source);
  const result = (await build({
    root: consumer,
    configFile: false,
    logLevel: "error",
    build: { target: "es2022", minify, write: false, modulePreload: false, lib: { entry: "entry.js", formats: ["es"] } },
  })) as Rolldown.RolldownOutput[];
  const chunks = result.flatMap(({ output }) => output).filter((file) => file.type === "chunk");
  return chunks
    .sort((a, b) => Number(b.isEntry) - Number(a.isEntry))
    .map(({ fileName, code, imports }) => ({ name: fileName, code, imports }));
}
