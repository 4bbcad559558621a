import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { memoryStorage } from "../../storage/memory.js";
import { nodeStorage } from "../../storage/node.js";
import { openCheckpoint } from "../openCheckpoint.js";
import { OrbaxCheckpointStore } from "../store.js";

const folder = new URL("../../../e2e/fixtures/data/generations/0.12.8/checkpoints/rich-types/", import.meta.url);

/** The rich types of an item that a store saved. */
async function richTypesOf(storage: ReturnType<typeof memoryStorage>, step: number): Promise<unknown> {
  const text = new TextDecoder().decode(await storage.read(`${step}/model/_METADATA`));
  const { value_metadata_tree } = JSON.parse(text) as { readonly value_metadata_tree?: string };
  return value_metadata_tree === undefined ? undefined : JSON.parse(value_metadata_tree);
}

test("rich types are kept like an opened checkpoint, like its save, and like an opened item of that; and nowhere else", async () => {
  const given = JSON.parse(readFileSync(new URL("_METADATA", folder), "utf8")) as { readonly value_metadata_tree: string };
  const expected = { tree: JSON.parse(given.value_metadata_tree) };
  const opened = await openCheckpoint(nodeStorage(folder.pathname));
  const storage = memoryStorage();
  const store = new OrbaxCheckpointStore(storage, { maxToKeep: null });
  const model = await opened.restore();
  await store.save(1, { model }, { like: { model: opened } });
  expect(await richTypesOf(storage, 1)).toEqual(expected);
  const restored = await store.restore(1);
  expect(restored.items.model).toEqual(model);
  await store.save(2, restored.items, { like: restored });
  expect(await richTypesOf(storage, 2)).toEqual(expected);
  await store.save(3, restored.items, { like: (await store.open(2)).items });
  expect(await richTypesOf(storage, 3)).toEqual(expected);
  await store.save(4, restored.items, { like: { model: await openCheckpoint(storage, { step: 3, item: "model" }) } });
  expect(await richTypesOf(storage, 4)).toEqual(expected);
  await store.save(5, restored.items);
  expect(await richTypesOf(storage, 5)).toBeUndefined();
});

test("what is not an opened checkpoint, or is not given by item, is refused", async () => {
  const opened = await openCheckpoint(nodeStorage(folder.pathname));
  const store = new OrbaxCheckpointStore(memoryStorage());
  for (const like of [opened, { model: { ...opened } }, { model: await opened.restore() }, { model: null }]) {
    const saving = store.save(1, { model: 1 }, { like: like as never });
    await expect(saving).rejects.toMatchObject({ name: "CheckpointValueError", message: expect.stringContaining("{ model: checkpoint }") });
  }
});
