import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { differences, type Expected } from "../../../e2e/fixtures/expected.js";
import { memoryStorage } from "../../storage/memory.js";
import { nodeStorage } from "../../storage/node.js";
import type { WritableStorage } from "../../storage/storage.js";
import { fixtureFolder } from "../fixtureSteps.testing.js";
import { openStep } from "../openStep.js";
import { restoredLeaves, sameLeaves } from "../restoredLeaves.testing.js";
import { OrbaxCheckpointStore } from "../store.js";

// What Python saved, restored, saved with `like` and restored again is the same: bytes, dtypes, kinds, keys, empty nodes, the record.

const read = (fixture: string): Expected => JSON.parse(readFileSync(join(fixtureFolder, fixture, "expected.json"), "utf8"));

const cases = readdirSync(fixtureFolder)
  .filter((name) => ["checkpoints", "expected.json"].every((part) => readdirSync(join(fixtureFolder, name)).includes(part)))
  .flatMap((fixture) =>
    Object.entries(read(fixture).steps).flatMap(([step, expected]) =>
      expected.error === undefined && expected.items !== undefined && expected.case !== "bz2"
        ? [[fixture, Number(step), expected.items] as const]
        : [],
    ),
  );

/** Records that substrax reads and would not write: without items, and with its own names in `extra`. */
const unwritable = ["records 28", "records 39"];

const byPath = <Leaf extends { readonly path: string }>(leaves: Leaf[]): Leaf[] => leaves.sort((a, b) => (a.path < b.path ? -1 : 1));

/** All that a step's index says of its leaves, whose order may be another: in Python keys can be numbers. */
async function kindsOf(storage: WritableStorage, step: number) {
  const { items } = await openStep(storage, step, "memory", {});
  return items.map(({ name, leaves }) => [
    name,
    byPath(
      leaves.map((leaf) => ("array" in leaf ? { kind: leaf.kind, path: leaf.path, keyImpl: leaf.keyImpl, spec: leaf.array.spec } : leaf)),
    ),
  ]);
}

describe("a step of Python's, saved again like itself", () => {
  it("is in many fixtures", () => expect(cases.length).toBeGreaterThan(40));

  it.each(cases.filter(([fixture, step]) => fixture !== "zero-size" && !unwritable.includes(`${fixture} ${step}`)))(
    "%s %i",
    async (fixture, step, expected) => {
      const source = nodeStorage(join(fixtureFolder, fixture, "checkpoints"));
      const restored = await new OrbaxCheckpointStore(source).restore(step);
      for (const compression of ["none", "zstd"] as const) {
        const storage = memoryStorage();
        const store = new OrbaxCheckpointStore(storage);
        const { epoch, metrics, extra, producer } = restored.metadata;
        const options = { epoch, metrics, extra, producer, compression, like: restored };
        expect(await store.save(step, restored.items, options)).toBe(`memory/${step}`);
        const again = await store.restore(step);
        expect(again.metadata).toMatchObject({ epoch, metrics, extra, producer, step, libraries: { "orbax-webgpu": "0.1.0" } });
        expect(sameLeaves(byPath(restoredLeaves(again.items)), byPath(restoredLeaves(restored.items)))).toBe(true);
        expect(await kindsOf(storage, step)).toEqual(await kindsOf(source, step));
        for (const [item, leaves] of Object.entries(expected)) {
          expect(await differences((again.items as Record<string, unknown>)[item], leaves)).toEqual([]);
        }
      }
    },
  );

  it("names every array without elements, which Orbax does not save", async () => {
    const source = nodeStorage(join(fixtureFolder, "zero-size", "checkpoints"));
    const { items, leaf } = await new OrbaxCheckpointStore(source).restore(1);
    const empty = restoredLeaves(items).filter(({ spec, bytes }) => spec !== "" && bytes.length === 0);
    expect(empty.length).toBeGreaterThan(0);
    expect(leaf).toBeTypeOf("function");
    const storage = memoryStorage();
    const error = await new OrbaxCheckpointStore(storage).save(1, items).catch((reason: unknown) => reason);
    for (const { path } of empty) expect(String(error)).toContain(path.slice(1));
    expect(await storage.list("")).toEqual({ files: [], directories: [] });
  });
});
