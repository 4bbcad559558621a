import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build as buildByEsbuild } from "esbuild";
import { type BuildOptions, build, type Rolldown } from "vite";

/** One file that a bundler made. */
export interface BundledFile {
  readonly name: string;
  readonly code: string;
  /** Names of the files that it loads at once. */
  readonly imports: readonly string[];
}

/** Bundles a one-line program with the packed package and all its dependencies into modules, as a library would. The entry file is first. */
export const bundle = (consumer: string, source: string): Promise<BundledFile[]> =>
  bundleByVite(consumer, source, { minify: false, lib: { entry: "entry.js", formats: ["es"] } });

/** Bundles and minifies it as an application would. */
export const bundleApp = (consumer: string, source: string): Promise<BundledFile[]> =>
  bundleByVite(consumer, source, { rolldownOptions: { input: join(consumer, "entry.js") } });

/** What a strict bundler warns of in the packed package, its dependencies aside. */
export async function warningsOf(consumer: string): Promise<string[]> {
  const warnings: string[] = [];
  await build({
    root: consumer,
    configFile: false,
    logLevel: "silent",
    build: {
      write: false,
      rolldownOptions: {
        input: ["index.js", "node.js"].map((entry) => join(consumer, "node_modules", "orbax-webgpu", "dist", entry)),
        external: /^[^./]/,
        checks: { circularDependency: true },
        onLog: (level, { message }) => void warnings.push(`${level}: ${message}`),
      },
    },
  });
  return warnings;
}

async function bundleByVite(consumer: string, source: string, options: BuildOptions): Promise<BundledFile[]> {
  writeFileSync(join(consumer, "entry.js"), source);
  const result = await build({
    root: consumer,
    configFile: false,
    logLevel: "error",
    build: { target: "es2022", write: false, modulePreload: false, ...options },
  });
  const outputs = (Array.isArray(result) ? result : [result]) as Rolldown.RolldownOutput[];
  const chunks = outputs.flatMap(({ output }) => output).filter((file) => file.type === "chunk");
  return chunks
    .sort((a, b) => Number(b.isEntry) - Number(a.isEntry))
    .map(({ fileName, code, imports }) => ({ name: basename(fileName), code, imports: imports.map((path) => basename(path)) }));
}

/** As {@link bundleApp}, by esbuild. */
export async function bundleByEsbuild(consumer: string, source: string): Promise<BundledFile[]> {
  const { outputFiles, metafile } = await buildByEsbuild({
    stdin: { contents: source, resolveDir: consumer },
    outdir: join(consumer, "out"),
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    target: "es2022",
    metafile: true,
    write: false,
    logLevel: "error",
  });
  const codes = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
  return Object.entries(metafile.outputs)
    .sort(([, a], [, b]) => Number(b.entryPoint === "<stdin>") - Number(a.entryPoint === "<stdin>"))
    .map(([path, { imports }]) => ({
      name: basename(path),
      code: codes.get(basename(path)) ?? "",
      imports: imports.filter(({ kind }) => kind === "import-statement").map((imported) => basename(imported.path)),
    }));
}
