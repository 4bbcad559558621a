import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openCheckpoint } from "orbax-webgpu";
import { nodeStorage } from "orbax-webgpu/node";
import { differences, type ExpectedLeaf } from "../fixtures/expected.js";
import { expect, test } from "../page/test.js";
import { startServer } from "../server/server.mjs";
import { runPython } from "./runPython.js";

// Random trees with random options of the newest Orbax in each run: databases and directories, zarr v2 and v3, chunks, compression, eight devices,
// managers with names and prefixes, v1. `npm test` hands over the Python that it prepared.

/** One tree of a checkpoint, as `write_random_orbax.py` tells it. */
interface RandomCase {
  readonly folder: string;
  readonly step?: number;
  readonly item?: string;
  readonly about: string;
  readonly leaves: readonly ExpectedLeaf[];
}

const count = 200;
/** Every so manieth is restored onto a GPU as well. */
const gpuEvery = 4;

async function writeCases(folder: string, seed: number): Promise<readonly RandomCase[]> {
  const args = ["--seed", `${seed}`, "--cases", `${count}`, "--out", folder];
  await runPython("write_random_orbax.py", args, { timeoutSeconds: 1200 });
  return JSON.parse(await readFile(join(folder, "expected.json"), "utf8")).cases;
}

const optionsOf = ({ step, item }: RandomCase) => ({ ...(step !== undefined && { step }), ...(item !== undefined && { item }) });

async function problemsInNode(folder: string, cases: readonly RandomCase[]): Promise<string[]> {
  const problems: string[] = [];
  for (const each of cases) {
    const checkpoint = await openCheckpoint(nodeStorage(join(folder, each.folder)), optionsOf(each));
    const lines = await differences(await checkpoint.restore(), each.leaves);
    problems.push(...lines.map((line) => `${each.folder} ${each.about}: ${line}`));
  }
  return problems;
}

test(`${count} random trees by Orbax come back as they were saved, some of them onto the GPU`, async ({ page }) => {
  test.setTimeout(1_800_000);
  const seed = Number(process.env.ORBAX_INTEROP_SEED ?? Date.now() % 2 ** 31);
  console.info(`seed ${seed}`);
  const folder = await mkdtemp(join(tmpdir(), "orbax-webgpu-trees-"));
  const server = await startServer({ root: folder });
  try {
    const cases = await writeCases(folder, seed);
    expect(cases.length).toBeGreaterThanOrEqual(count);
    expect(await problemsInNode(folder, cases), `ORBAX_INTEROP_SEED=${seed} repeats this run`).toEqual([]);
    const wanted = cases
      .filter((_, index) => index % gpuEvery === 0)
      .map((each) => ({ url: `${server.url.replace(/\/$/, "")}/${each.folder}`, options: optionsOf(each), leaves: each.leaves }));
    const problems = await page.evaluate(
      async (wanted) => window.internals.problemsOfCheckpoints(wanted, await window.internals.testDevice()),
      wanted,
    );
    expect(problems, `ORBAX_INTEROP_SEED=${seed} repeats this run`).toEqual([]);
  } finally {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
});
