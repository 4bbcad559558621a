import { gzipSync } from "node:zlib";
import { expect, inject, it } from "vitest";
import { type BundledFile, bundle } from "./bundle.js";

/** Most gzipped bytes that a page downloads to restore a checkpoint, dependencies included. */
const budget = 124 * 1024;

/** The files that a page loads at once: the entry and what it imports statically. */
function loadedAtOnce(files: readonly BundledFile[], name = files[0]?.name, seen = new Set<string>()): Set<string> {
  const file = files.find((candidate) => candidate.name === name);
  if (file === undefined || seen.has(file.name)) return seen;
  seen.add(file.name);
  for (const imported of file.imports) loadedAtOnce(files, imported, seen);
  return seen;
}

/** The decoder's file, which is loaded with the first chunk. */
const decoder = /^zstdWasm-/;

it("costs a page no more than its budget", async () => {
  const files = await bundle(inject("consumer"), `export * from "orbax-webgpu";`, { minify: true });
  const loaded = loadedAtOnce(files);
  expect(files.filter(({ name }) => decoder.test(name) && !loaded.has(name))).toHaveLength(1);
  const bytes = files
    .filter(({ name }) => loaded.has(name) || decoder.test(name))
    .reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).length, 0);
  console.info(`gzipped, with dependencies: ${(bytes / 1024).toFixed(1)} KiB of ${budget / 1024} KiB`);
  expect(bytes).toBeLessThanOrEqual(budget);
});
