import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect, isDeepStrictEqual } from "node:util";
import { openCheckpoint } from "orbax-webgpu";
import { nodeStorage } from "orbax-webgpu/node";
import { differences, type ExpectedLeaf, withoutMarks } from "../fixtures/expected.js";
import { expect, test } from "../page/test.js";
import { startServer } from "../server/server.mjs";
import { runPython } from "./runPython.js";

// Random trees with random options of the newest Orbax in each run: databases and directories, zarr v2 and v3, chunks, compression, eight devices,
// managers with names and prefixes, JSON, metrics and metadata, v1, several processes whose databases were merged or not. `npm test` hands over the Python that it prepared.

/** One tree of a checkpoint, as `write_random_orbax.py` tells it. */
interface RandomCase {
  readonly folder: string;
  readonly step?: number;
  readonly item?: string;
  readonly about: string;
  readonly leaves?: readonly ExpectedLeaf[];
  /** Value of an item of JSON. */
  readonly json?: unknown;
  readonly metadata?: Readonly<Record<string, unknown>>;
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
    const restored = await checkpoint.restore();
    const lines = each.leaves === undefined ? unlessEqual("JSON", restored, each.json) : await differences(restored, each.leaves);
    for (const [name, value] of Object.entries(each.metadata ?? {}))
      lines.push(...unlessEqual(name, checkpoint.metadata[name as keyof typeof checkpoint.metadata], value));
    problems.push(...lines.map((line) => `${each.folder} ${each.about}: ${line}`));
  }
  return problems;
}

const unlessEqual = (what: string, found: unknown, expected: unknown): string[] =>
  isDeepStrictEqual(found, withoutMarks(expected)) ? [] : [`${what} ${inspect(found)}, expected ${inspect(expected)}`];

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
      .filter(({ leaves, folder }, index) => leaves !== undefined && (index % gpuEvery === 0 || folder.includes("/")))
      .map((each) => ({ url: `${server.url.replace(/\/$/, "")}/${each.folder}`, options: optionsOf(each), leaves: each.leaves ?? [] }));
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
