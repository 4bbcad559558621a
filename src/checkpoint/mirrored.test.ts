import { join } from "node:path";
import { expect, test } from "vitest";
import { memoryStorage } from "../storage/memory.js";
import { FakeSource, sentTwice } from "../storage/mirror/fakeSource.testing.js";
import { mirrored } from "../storage/mirror/mirrored.js";
import { nodeStorage } from "../storage/node.js";
import { fixtureFolder } from "./fixtureSteps.testing.js";
import { openCheckpoint } from "./openCheckpoint.js";
import { restoredLeaves } from "./restoredLeaves.testing.js";
import { filesOf } from "./save/faultyStorage.testing.js";
import { OrbaxCheckpointStore } from "./store.js";

/** All leaves of the latest step, as text. */
async function contents(source: Parameters<typeof openCheckpoint>[0], item?: string): Promise<string> {
  const tree = await (await openCheckpoint(source, { item })).restore();
  return JSON.stringify(restoredLeaves(tree).map(({ bytes, ...leaf }) => ({ ...leaf, bytes: Buffer.from(bytes).toString("base64") })));
}

test.each([
  ["OCDBT in a root of steps", "plain-orbax/checkpoints", undefined],
  ["several items", "digits/checkpoints", "model"],
  ["zarr with shards", "sharded/checkpoints", "model"],
  ["state files", "state-files", undefined],
])("a mirror of %s is opened and restored as its source is, without a byte twice, and without the source", async (_, folder, item) => {
  const plain = nodeStorage(join(fixtureFolder, folder));
  const expected = await contents(plain, item);
  const source = new FakeSource(await filesOf(plain));
  const cache = memoryStorage();
  expect(await contents(mirrored(source.storage, cache), item)).toBe(expected);
  expect(sentTwice(source.sent)).toEqual([]);
  source.sent.length = 0;
  expect(await contents(mirrored(source.storage, cache), item)).toBe(expected);
  expect(source.sent).toEqual([]);
  source.isUp = false;
  expect(await contents(mirrored(source.storage, cache), item)).toBe(expected);
});

test("a store over a mirror sees new steps, reads those that were overwritten anew, and saves nothing", async () => {
  const root = memoryStorage();
  const python = new OrbaxCheckpointStore(root, { maxToKeep: null });
  await python.save(1, { model: { w: Float32Array.of(1, 2) } });
  const source = new FakeSource(await filesOf(root));
  const cache = memoryStorage();
  const store = () => new OrbaxCheckpointStore(mirrored(source.storage, cache));
  const valuesOf = async (step: number) => {
    const { items } = await store().restore(step);
    return restoredLeaves(items).map(({ bytes }) => [...new Float32Array(bytes.slice().buffer)]);
  };
  expect(await valuesOf(1)).toEqual([[1, 2]]);
  await python.save(2, { model: { w: Float32Array.of(3) } });
  await python.save(1, { model: { w: Float32Array.of(8, 9) } }, { overwrite: true });
  const now = await filesOf(root);
  for (const path of source.files.keys()) if (!now.has(path)) source.files.delete(path);
  for (const [path, bytes] of now) {
    const before = source.files.get(path);
    if (before === undefined || Buffer.compare(before, bytes) !== 0) source.files.set(path, bytes);
  }
  expect(await store().listSteps()).toEqual([1, 2]);
  expect([await valuesOf(1), await valuesOf(2)]).toEqual([[[8, 9]], [[3]]]);
  source.isUp = false;
  expect([await valuesOf(2), await valuesOf(1), await store().listSteps()]).toEqual([[[3]], [[8, 9]], [1, 2]]);
  // @ts-expect-error: it can only be read
  await expect(store().save(3, { model: Int8Array.of(1) })).rejects.toThrow();
});
