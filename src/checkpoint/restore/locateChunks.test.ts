import { describe, expect, it } from "vitest";
import { CorruptCheckpointError, UnsupportedCheckpointError } from "../../errors.js";
import { memoryStorage } from "../../storage/memory.js";
import { Pace } from "../../tasks/pace.js";
import type { ZarrArray } from "../../zarr/openArray.js";
import type { Files } from "../fixtureSteps.testing.js";
import { type HandmadeArray, handmadeStep, treeEntry, treeMetadata } from "../handmadeStep.testing.js";
import { type ItemIndex, openItem } from "../item/openItem.js";
import { locateChunks, requireFewChunks } from "./locateChunks.js";

/** Opens the item of a handmade step and counts what it reads. */
async function opened(files: Files): Promise<{ index: ItemIndex; arrays: ZarrArray[]; reads: () => number }> {
  const storage = memoryStorage(files);
  let reads = 0;
  const counting = {
    ...storage,
    read: (...asked: Parameters<typeof storage.read>) => {
      reads++;
      return storage.read(...asked);
    },
  };
  const index = await openItem("model", counting, "1/model", { node: "tree" }, new Pace(), {});
  return { index, arrays: index.leaves.flatMap((leaf) => ("array" in leaf ? [leaf.array] : [])), reads: () => reads };
}

const indirect = (offset: number, length = 16) =>
  ({ kind: "indirect", fileId: 0, offset: BigInt(offset), length: BigInt(length) }) as const;
const table = [{ basePath: "", relativePath: "d/0" }];

const notAllStored = (names: readonly string[]) => ({
  "1/model/_METADATA": treeMetadata(
    names.map((name) => treeEntry(["tree", name])),
    { store_array_data_equal_to_fill_value: false },
  ),
});

describe("locateChunks", () => {
  it("finds chunks of many arrays in their order, in the index, in files and nowhere, and reads nothing", async () => {
    const files = notAllStored(["a", "b", "c"]);
    const step = handmadeStep(
      { a: { zarray: { shape: [12] }, chunks: { 0: indirect(32), 2: indirect(0) } }, b: {}, c: { zarray: { shape: [0] }, chunks: {} } },
      { files, table },
    );
    const { index, arrays, reads } = await opened(step);
    const before = reads();
    const [a, b, c] = await locateChunks(index, arrays, new Pace(), {});
    expect(reads()).toBe(before);
    expect(a?.map(({ chunk }) => chunk)).toEqual([
      { key: "tree.a/0", origin: [0] },
      { key: "tree.a/1", origin: [4] },
      { key: "tree.a/2", origin: [8] },
    ]);
    expect(a?.map(({ source }) => source)).toEqual([
      { kind: "range", storage: expect.anything(), path: "d/0", range: { offset: 32, length: 16 } },
      { kind: "fill" },
      { kind: "range", storage: expect.anything(), path: "d/0", range: { offset: 0, length: 16 } },
    ]);
    expect(b?.map(({ source }) => source)).toEqual([{ kind: "inline", bytes: new Uint8Array(16), path: "root", offset: 0 }]);
    expect(c).toEqual([]);
  });

  it("finds more chunks than are looked up at a time, of one array and across arrays", async () => {
    const count = 1500;
    const chunks = Object.fromEntries(Array.from({ length: count }, (_, index) => [index, indirect(index * 16)]));
    const array: HandmadeArray = { zarray: { shape: [4 * count] }, chunks };
    const { index, arrays } = await opened(handmadeStep({ a: array, b: {}, c: array }, { table }));
    const located = await locateChunks(index, arrays, new Pace(), {});
    expect(located.map(({ length }) => length)).toEqual([count, 1, count]);
    for (const list of [located[0], located[2]]) {
      expect(list?.map(({ chunk }) => chunk.origin[0])).toEqual(Array.from({ length: count }, (_, nth) => 4 * nth));
      const offsets = list?.map(({ source }) => source.kind === "range" && source.range.offset);
      expect(offsets).toEqual(Array.from({ length: count }, (_, nth) => 16 * nth));
    }
  });

  it("names the first chunk that is lost, and one that is too long", async () => {
    const lost = await opened(handmadeStep({ a: {}, b: { zarray: { shape: [12] }, chunks: { 1: indirect(0) } } }, { table }));
    const work = locateChunks(lost.index, lost.arrays, new Pace(), {});
    await expect(work).rejects.toThrow(CorruptCheckpointError);
    await expect(work).rejects.toMatchObject({ path: "1/model/tree.b/0" });
    const long = await opened(handmadeStep({ a: { chunks: { 0: indirect(8, 2 ** 20) } } }, { table }));
    await expect(locateChunks(long.index, long.arrays, new Pace(), {})).rejects.toMatchObject({ path: "d/0", offset: 8 });
  });

  it("takes every chunk for a file where there is no database", async () => {
    const { index, arrays } = await opened(handmadeStep({ a: {} }));
    const folder = memoryStorage();
    const [found] = await locateChunks({ ...index, arrays: folder }, arrays, new Pace(), {});
    expect(found).toEqual([{ chunk: { key: "tree.a/0", origin: [0] }, source: { kind: "file", storage: folder, path: "tree.a/0" } }]);
  });

  it("stops on abort", async () => {
    const { index, arrays } = await opened(handmadeStep({ a: {} }));
    const signal = AbortSignal.abort(new Error("stop"));
    await expect(locateChunks(index, arrays, new Pace(), { signal })).rejects.toThrow("stop");
  });
});

describe("requireFewChunks", () => {
  it("refuses more than 2^19 chunks, without making one", async () => {
    const { arrays } = await opened(handmadeStep({ a: {} }));
    const [array] = arrays;
    if (array === undefined) throw new Error("no array");
    expect(() => requireFewChunks([array, { ...array, chunkCount: 2 ** 19 - 1 }])).not.toThrow();
    expect(() => requireFewChunks([array, { ...array, chunkCount: 2 ** 19 }])).toThrow(UnsupportedCheckpointError);
  });
});
