import { gzipSync } from "node:zlib";
import { describe, expect, inject, it } from "vitest";
import { type BundledFile, bundleApp, bundleByEsbuild } from "./bundle.js";

/** Most gzipped bytes, dependencies included. */
interface Budget {
  /** That a page loads with `import { openCheckpoint }`. */
  readonly openCheckpoint: number;
  /** Of zstd's decoder, which is loaded with the first compressed bytes. */
  readonly zstd: number;
  /**
   * Of all that opening and restoring may load, from any place: decoders, workers and folders included, what is rare excepted.
   * `e2e/freshApp.spec.ts` has what one restore does load.
   */
  readonly everything: number;
  /** That a page loads with the guard for errors. */
  readonly isCheckpointError: number;
}

/** The files that a page loads at once: the entry and what it imports statically. */
function loadedAtOnce(files: readonly BundledFile[], name = files[0]?.name, seen = new Set<string>()): Set<string> {
  const file = files.find((candidate) => candidate.name === name);
  if (file === undefined || seen.has(file.name)) return seen;
  seen.add(file.name);
  for (const imported of file.imports) loadedAtOnce(files, imported, seen);
  return seen;
}

/** zstd's decoder, as the module is called that holds its WebAssembly. */
const isDecoder = ({ name }: BundledFile) => name.startsWith("zstdWasm-");

/** What only few checkpoints need: numcodecs' builds, zarrita for elements in Fortran order, zstd without WebAssembly. */
const isRare = ({ name }: BundledFile) => /^(blosc|lz4|zstd|gzip|zlib|dist|src|streamByFzstd|esm|chunk-INHXZS53)[-.]/.test(name);

const sizeOf = (files: readonly BundledFile[]): number => files.reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).length, 0);

interface Bundler {
  readonly name: string;
  readonly budget: Budget;
  bundle(source: string): Promise<BundledFile[]>;
}

const bundlers: readonly Bundler[] = [
  {
    name: "Vite",
    budget: { openCheckpoint: 40_000, zstd: 35_000, everything: 155_000, isCheckpointError: 4000 },
    bundle: (source) => bundleApp(inject("consumer"), source),
  },
  {
    // It loads at once every file that the package's entry exports something of and a later part uses; and emits files that nobody loads.
    name: "esbuild",
    budget: { openCheckpoint: 40_000, zstd: 35_000, everything: Number.POSITIVE_INFINITY, isCheckpointError: 15_000 },
    bundle: (source) => bundleByEsbuild(inject("consumer"), source),
  },
];

describe.each(bundlers)("what a page of a user's project loads, bundled by $name,", ({ name, budget, bundle }) => {
  it("with openCheckpoint stays within its budget, and the decoder comes when it is needed", async () => {
    const files = await bundle(`import { openCheckpoint } from "orbax-webgpu"; globalThis.open = openCheckpoint;`);
    const loaded = loadedAtOnce(files);
    const decoders = files.filter(isDecoder);
    const openCheckpoint = sizeOf(files.filter((file) => loaded.has(file.name)));
    const everything = sizeOf(files.filter((file) => !isRare(file)));
    console.info(`${name}, gzipped bytes: ${JSON.stringify({ openCheckpoint, zstd: sizeOf(decoders), everything })}`);
    expect(decoders).toHaveLength(1);
    expect(decoders.some((file) => loaded.has(file.name))).toBe(false);
    expect(openCheckpoint).toBeLessThanOrEqual(budget.openCheckpoint);
    expect(sizeOf(decoders)).toBeLessThanOrEqual(budget.zstd);
    expect(everything).toBeLessThanOrEqual(budget.everything);
  });

  it("with one small function is little", async () => {
    const files = await bundle(`import { isCheckpointError } from "orbax-webgpu"; globalThis.guard = isCheckpointError;`);
    const loaded = loadedAtOnce(files);
    expect(sizeOf(files.filter((file) => loaded.has(file.name)))).toBeLessThanOrEqual(budget.isCheckpointError);
  });
});
