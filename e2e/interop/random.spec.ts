import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Expected } from "../fixtures/expected.js";
import { expect, test } from "../page/test.js";
import { startServer } from "../server/server.mjs";
import { runCommand } from "../setup/commands.mjs";

// A fresh random store by real substrax in each run. `npm test` hands over the Python that it prepared.

/** Writes a random store; what real substrax restores from it. */
async function writeRandomStore(folder: string, seed: number): Promise<Expected> {
  const python = process.env.ORBAX_PYTHON;
  if (python === undefined) throw new Error("ORBAX_PYTHON names no Python with substrax; `npm test -- --only interop` makes one");
  const script = join(import.meta.dirname, "write_random.py");
  const { code, output } = await runCommand(python, [script, "--seed", `${seed}`, "--out", folder], { timeoutSeconds: 600 });
  if (code !== 0) throw new Error(`seed ${seed}: writing failed:\n${output}`);
  return JSON.parse(await readFile(join(folder, "expected.json"), "utf8"));
}

test("what Python writes now, the browser restores onto the GPU, byte for byte", async ({ page }) => {
  const seed = Number(process.env.ORBAX_INTEROP_SEED ?? Date.now() % 2 ** 31);
  console.info(`seed ${seed}`);
  const folder = await mkdtemp(join(tmpdir(), "orbax-webgpu-random-"));
  try {
    const { steps } = await writeRandomStore(folder, seed);
    const server = await startServer({ root: join(folder, "checkpoints") });
    const problems = await page.evaluate(
      async ({ url, steps }) => {
        const { problemsOfStep, testDevice } = window.internals;
        const device = await testDevice();
        const problems: string[] = [];
        for (const [step, { items = {} }] of Object.entries(steps))
          problems.push(...(await problemsOfStep(url, Number(step), items, device)));
        return problems;
      },
      { url: server.url, steps },
    );
    await server.close();
    const leaves = Object.values(steps).flatMap(({ items = {} }) => Object.values(items).flat());
    expect(leaves.length).toBeGreaterThan(40);
    expect(problems, `seed ${seed}; ORBAX_INTEROP_SEED=${seed} repeats this run`).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
