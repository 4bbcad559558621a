import { expect, test } from "vitest";
import { crc32c } from "../bytes/crc32c.js";
import { CorruptCheckpointError } from "../errors.js";
import { readShard, type ShardLayout } from "./shardIndex.js";

const place = { path: "d/1", offset: 100 };
const layout: ShardLayout = {
  chunkShape: [2],
  chunksPerShard: [3],
  indexLocation: "end",
  indexByteOrder: "little",
  indexIsChecked: true,
  outer: [],
};
const absent = [2n ** 64n - 1n, 2n ** 64n - 1n];

function sealIndex(entries: readonly bigint[]): number[] {
  const index = new Uint8Array(BigUint64Array.from(entries).buffer);
  return [...index, ...new Uint8Array(Uint32Array.of(crc32c(index)).buffer)];
}

const shardOf = (body: readonly number[], entries: readonly bigint[]) => Uint8Array.from([...body, ...sealIndex(entries)]);

test("chunks of a shard are found by its index, wherever it stands", () => {
  const body = [7, 8, 9, 10];
  const shard = shardOf(body, [2n, 2n, ...absent, 0n, 1n]);
  expect([...readShard(shard, layout, place)]).toEqual([
    { indices: [0], offset: 2, bytes: Uint8Array.of(9, 10) },
    { indices: [1], offset: 0, bytes: undefined },
    { indices: [2], offset: 0, bytes: Uint8Array.of(7) },
  ]);
  const first = Uint8Array.from([...sealIndex([52n, 1n, ...absent, 54n, 2n]), ...body]);
  const found = [...readShard(first, { ...layout, indexLocation: "start" }, place)];
  expect(found.map(({ bytes }) => bytes && [...bytes])).toEqual([[7], undefined, [9, 10]]);
});

test("behind a transpose the index has the chunks in the order of its axes", () => {
  const entries = [0n, 1n, 1n, 1n, 2n, 1n, 3n, 1n, 4n, 1n, 5n, 1n];
  const square = { ...layout, chunkShape: [1, 1], chunksPerShard: [2, 3], indexOrder: [1, 0] };
  const found = [...readShard(shardOf([10, 11, 12, 13, 14, 15], entries), square, place)];
  expect(found.map(({ indices, bytes }) => [...indices, ...(bytes ?? [])])).toEqual([
    [0, 0, 10],
    [0, 1, 12],
    [0, 2, 14],
    [1, 0, 11],
    [1, 1, 13],
    [1, 2, 15],
  ]);
});

test("the real shard of the format's documentation", () => {
  const hex = "28b52ffd2020010100000000000100000002000000030000000400000005000000060000000700000000000000000000002900000000000000";
  const shard = Uint8Array.from(Buffer.from(`${hex}8e867744`, "hex"));
  const [entry] = readShard(shard, { ...layout, chunkShape: [8], chunksPerShard: [1] }, place);
  expect(entry?.bytes?.length).toBe(41);
});

test("a damaged index is never used", () => {
  const shard = shardOf([7], [0n, 1n, ...absent, ...absent]);
  for (let byte = 1; byte < shard.length; byte++) {
    const damaged = shard.slice();
    damaged[byte] = (damaged[byte] ?? 0) ^ 1;
    expect(() => [...readShard(damaged, layout, place)], `byte ${byte}`).toThrow(CorruptCheckpointError);
  }
  expect(() => [...readShard(shard.subarray(0, 40), layout, place)]).toThrow("expected a shard with an index of 52 bytes");
});

test("an index that points outside the shard is damage, also beyond 2^53", () => {
  for (const entry of [
    [0n, 100n],
    [2n ** 64n - 1n, 1n],
    [2n ** 63n, 2n ** 63n],
  ]) {
    expect(() => [...readShard(shardOf([1, 2, 3], [...entry, ...absent, ...absent]), layout, place)]).toThrow(CorruptCheckpointError);
  }
});

test("an index for more chunks than bytes allocates nothing", () => {
  const huge = { ...layout, chunksPerShard: [2 ** 26, 2 ** 26] };
  expect(() => [...readShard(new Uint8Array(64), huge, place)]).toThrow(CorruptCheckpointError);
});
