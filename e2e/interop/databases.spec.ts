import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "playwright/test";
import { runCommand } from "../setup/commands.mjs";
import { nodesIn, textsIn, writeRandomDatabases } from "../synthetic/randomDatabases.js";

// Random databases in each run, written here and read by real TensorStore. `npm test` hands over the Python that it prepared.

/** Every difference that TensorStore finds. */
async function readByTensorStore(folder: string): Promise<string[]> {
  const python = process.env.ORBAX_PYTHON;
  if (python === undefined) throw new Error("ORBAX_PYTHON names no Python with TensorStore; `npm test -- --only interop` makes one");
  const { code, stdout, output } = await runCommand(python, [join(import.meta.dirname, "read_ours.py"), folder], { timeoutSeconds: 600 });
  if (code !== 0) throw new Error(`reading failed:\n${output}`);
  return JSON.parse(stdout);
}

test("what is written here, TensorStore reads, would have written, and goes on writing", async () => {
  const seed = Number(process.env.ORBAX_INTEROP_SEED ?? Date.now() % 2 ** 31);
  const repeat = `ORBAX_INTEROP_SEED=${seed} repeats this run`;
  console.info(`seed ${seed}`);
  const folder = await mkdtemp(join(tmpdir(), "orbax-webgpu-written-"));
  try {
    const databases = await writeRandomDatabases(folder, seed);
    const heights = databases.map(({ height }) => height);
    expect([Math.min(...heights), Math.max(...heights) >= 3], `${heights}: ${repeat}`).toEqual([0, true]);
    const before = new Map<string, readonly [nodes: string[], texts: Map<string, string>]>();
    for (const { name } of databases) before.set(name, [await nodesIn(join(folder, name)), await textsIn(join(folder, name))]);

    expect(await readByTensorStore(folder), repeat).toEqual([]);

    for (const [name, [nodes, texts]] of before) {
      expect(nodes, `${name}: ${repeat}`).toEqual(await nodesIn(join(folder, "twins", name)));
      texts.delete([...texts.keys()][0] ?? "");
      texts.set("a new key", Buffer.from("new").toString("hex"));
      expect([...(await textsIn(join(folder, name)))].sort(), `${name}: ${repeat}`).toEqual([...texts].sort());
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
