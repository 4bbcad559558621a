import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { OrbaxCheckpointStore, openCheckpoint } from "orbax-webgpu";
import { nodeStorage } from "orbax-webgpu/node";
import type { Page } from "playwright/test";
import { differences, type Expected, type ExpectedStep } from "../fixtures/expected.js";
import { expect, test } from "../page/test.js";
import { startServer } from "../server/server.mjs";
import { type PythonName, runPython } from "./runPython.js";

// Python saves, we restore and save again like it, and Python restores that: every leaf keeps bytes, dtype and kind. A fresh random store by
// real substrax in each run. `npm test` hands over the Python that it prepared.

/** The newest Orbax, and the oldest that substrax takes. */
const pythons = [
  ["the newest Orbax", "ORBAX_PYTHON"],
  ["Orbax 0.11.33", "ORBAX_OLDEST_PYTHON"],
] as const;

const readJson = async <Value>(path: string): Promise<Value> => JSON.parse(await readFile(path, "utf8"));

/** Saves every step again, from the GPU into the browser's file system; the files, with their bytes in base64. */
function saveInBrowser(page: Page, url: string, steps: readonly number[], compression: "none" | "zstd") {
  return page.evaluate(
    async ({ url, steps, compression }) => {
      const { OrbaxCheckpointStore, opfsStorage } = window.orbax;
      const device = await window.internals.testDevice();
      const source = new OrbaxCheckpointStore(url, { device, enableX64: true });
      const place = opfsStorage(`saved/${compression}`);
      const store = new OrbaxCheckpointStore(place, { maxToKeep: null });
      for (const step of steps) {
        const checkpoint = await source.restore(step);
        const { epoch, metrics, producer, extra } = checkpoint.metadata;
        await store.save(step, checkpoint.items, { epoch, metrics, producer, extra, like: checkpoint, compression });
        checkpoint.destroy();
      }
      const files: [path: string, base64: string][] = [];
      const visit = async (prefix: string): Promise<void> => {
        const listing = await place.list(prefix);
        for (const name of listing.files) {
          const bytes = (await place.read(prefix + name)) ?? new Uint8Array();
          files.push([prefix + name, btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))]);
        }
        for (const name of listing.directories) await visit(`${prefix}${name}/`);
      };
      await visit("");
      return files;
    },
    { url, steps, compression },
  );
}

/** Saves every step again in Node, from memory into a folder. */
async function saveInNode(from: string, into: string, steps: readonly number[]): Promise<void> {
  const source = new OrbaxCheckpointStore(nodeStorage(from));
  const store = new OrbaxCheckpointStore(nodeStorage(into), { maxToKeep: null });
  for (const step of steps) {
    const checkpoint = await source.restore(step);
    const { epoch, metrics, producer, extra } = checkpoint.metadata;
    await store.save(step, checkpoint.items, { epoch, metrics, producer, extra, like: checkpoint });
  }
}

/** What Python finds wrong with `<folder>/saved`; then it saves a step of its own there, which we restore. */
async function expectPythonAgrees(python: PythonName, folder: string, steps: readonly number[], place: string): Promise<void> {
  const lines: string[] = JSON.parse((await runPython("read_saved.py", [folder], { name: python })).trim().split("\n").at(-1) ?? "");
  expect(lines, place).toEqual([]);
  const next = await readJson<ExpectedStep & { readonly step: number }>(join(folder, "next.json"));
  const store = new OrbaxCheckpointStore(nodeStorage(join(folder, "saved")));
  expect(await store.listSteps(), place).toEqual([...steps, next.step]);
  expect(await store.bestStep("interop"), place).toBe(next.step);
  const { items } = await store.restore(next.step);
  expect(await differences(items.model, next.items?.model ?? []), place).toEqual([]);
  // Ours again, over Python's.
  await store.save(next.step, { model: Float32Array.of(1, 2) }, { overwrite: true });
  expect((await store.restore(next.step)).leaf("model", ""), place).toMatchObject({ data: Float32Array.of(1, 2) });
}

async function inFolder(
  python: PythonName,
  work: (folder: string, seed: number, expected: Expected, steps: readonly number[]) => Promise<void>,
): Promise<void> {
  const seed = Number(process.env.ORBAX_INTEROP_SEED ?? Date.now() % 2 ** 31);
  console.info(`seed ${seed}`);
  const folder = await mkdtemp(join(tmpdir(), "orbax-webgpu-saved-"));
  try {
    await runPython("write_random.py", ["--seed", `${seed}`, "--out", folder], { name: python });
    const expected = await readJson<Expected>(join(folder, "expected.json"));
    const steps = Object.keys(expected.steps)
      .map(Number)
      .sort((a, b) => a - b);
    await work(folder, seed, expected, steps);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const repeat = (seed: number) => `ORBAX_INTEROP_SEED=${seed} repeats this run`;

for (const [name, python] of pythons) {
  test(`what the browser saves from its GPU, ${name} restores, bit for bit`, async ({ page }) => {
    await inFolder(python, async (folder, seed, _, steps) => {
      const server = await startServer({ root: join(folder, "checkpoints") });
      for (const compression of ["none", "zstd"] as const) {
        await rm(join(folder, "saved"), { recursive: true, force: true });
        for (const [path, base64] of await saveInBrowser(page, server.url, steps, compression)) {
          const file = join(folder, "saved", path);
          await mkdir(dirname(file), { recursive: true });
          await writeFile(file, Buffer.from(base64, "base64"));
        }
        await expectPythonAgrees(python, folder, steps, `${compression}; ${repeat(seed)}`);
      }
      await server.close();
    });
  });

  test(`what Node saves, ${name} restores, bit for bit`, async () => {
    await inFolder(python, async (folder, seed, _, steps) => {
      await saveInNode(join(folder, "checkpoints"), join(folder, "saved"), steps);
      await expectPythonAgrees(python, folder, steps, repeat(seed));
    });
  });
}

test("tuples and namedtuples of Orbax's rich types are those in Python again", async () => {
  const folder = await mkdtemp(join(tmpdir(), "orbax-webgpu-rich-"));
  try {
    await runPython("rich_types.py", ["write", folder]);
    const opened = await openCheckpoint(nodeStorage(join(folder, "checkpoint")));
    const store = new OrbaxCheckpointStore(nodeStorage(join(folder, "saved")));
    await store.save(1, { model: await opened.restore() }, { like: { model: opened } });
    expect(JSON.parse((await runPython("rich_types.py", ["read", folder])).trim().split("\n").at(-1) ?? "")).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
