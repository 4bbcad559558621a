import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { differences, type ExpectedLeaf } from "../../e2e/fixtures/expected.js";
import { UnsupportedCheckpointError } from "../errors.js";
import { nodeStorage } from "../storage/node.js";
import { openCheckpoint } from "./openCheckpoint.js";

// Single arrays that zarr-python 2 and 3 wrote with each codec, order and key encoding.

const fixtures = join(import.meta.dirname, "../../e2e/fixtures/data/zarr-python");

const read = (major: string): Readonly<Record<string, ExpectedLeaf>> =>
  JSON.parse(readFileSync(join(fixtures, major, "expected.json"), "utf8")).arrays;

/** Codec chains that no writer of checkpoints uses: refused with an error that names the codec. */
const refused = ["compressor_crc32c", "compressor_zstd_crc32c", "compressor_gzip_zstd", "shard_crc32c"];
refused.push("shard_end_plain", "shard_end_plain_holes", "shard_start_plain", "shard_start_plain_holes");
refused.push("shard_compressed_outside", "shard_of_shards");

describe.each(readdirSync(fixtures))("zarr-python %s", (major) => {
  const arrays = Object.entries(read(major));
  const isRefused = ([name]: [string, ExpectedLeaf]) => refused.includes(name);

  it.each(arrays.filter(isRefused))("%s is refused", async (name) => {
    const opening = openCheckpoint(nodeStorage(join(fixtures, major, "arrays", name)));
    await expect(opening).rejects.toThrow(/crc32c|gzip|zstd|sharding_indexed|shards within shards/);
    await expect(opening).rejects.toBeInstanceOf(UnsupportedCheckpointError);
  });

  it.each(arrays.filter((array) => !isRefused(array)))("%s", async (name, leaf) => {
    const array = await openCheckpoint(nodeStorage(join(fixtures, major, "arrays", name)));
    expect(array.kind).toBe("array");
    expect(array.layout).toMatchObject({ tree: "names", arrays: ["directories"], zarr: [major === "2" || name.startsWith("v2_") ? 2 : 3] });
    expect(array.leaves).toMatchObject([{ path: "", dtype: leaf.dtype, shape: leaf.shape }]);
    expect(await differences(await array.restore(), [leaf])).toEqual([]);
  });
});
