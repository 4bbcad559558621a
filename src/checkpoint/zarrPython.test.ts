import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { differences, type ExpectedLeaf } from "../../e2e/fixtures/expected.js";
import { nodeStorage } from "../storage/node.js";
import { openCheckpoint } from "./openCheckpoint.js";

// Single arrays that zarr-python 2 and 3 wrote with each codec, order and key encoding.

const fixtures = join(import.meta.dirname, "../../e2e/fixtures/data/zarr-python");

const read = (major: string): Readonly<Record<string, ExpectedLeaf>> =>
  JSON.parse(readFileSync(join(fixtures, major, "expected.json"), "utf8")).arrays;

describe.each(readdirSync(fixtures))("zarr-python %s", (major) => {
  it.each(Object.entries(read(major)))("%s", async (name, leaf) => {
    const array = await openCheckpoint(nodeStorage(join(fixtures, major, "arrays", name)));
    expect(array.kind).toBe("array");
    expect(array.layout).toMatchObject({ tree: "names", arrays: ["directories"], zarr: [major === "2" || name.startsWith("v2_") ? 2 : 3] });
    expect(array.leaves).toMatchObject([{ path: "", dtype: leaf.dtype, shape: leaf.shape }]);
    expect(await differences(await array.restore(), [leaf])).toEqual([]);
  });
});
