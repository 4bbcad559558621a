import { boxRuns } from "../../arrays/boxRuns.js";
import { dtypes } from "../../arrays/dtypes.js";
import type { Box } from "../../arrays/spec.js";
import { type ByteRange, endOf } from "../../bytes/ranges.js";
import { CorruptCheckpointError } from "../../errors.js";
import type { TaskContext } from "../../tasks/context.js";
import { longestStored } from "../../zarr/chunkLimits.js";
import { chunksOf } from "../../zarr/grid.js";
import type { ZarrArray, ZarrChunk } from "../../zarr/openArray.js";
import { parseShardIndex, type ShardIndex, type ShardLayout, shardIndexRange } from "../../zarr/shardIndex.js";
import { innerArray } from "../../zarr/zarrArray.js";
import { type ChunkSource, type LocatedChunk, largestGap, measuredSource } from "./locateChunks.js";

// What of the chunks of a region has to be read.

/** Some chunks of an array; those of shards are chunks of another shape. */
export interface ArrayChunks {
  readonly array: ZarrArray;
  readonly chunks: readonly LocatedChunk[];
}

/**
 * Narrows the chunks of a region down: of uncompressed ones to the runs of bytes that hold it, of shards to the chunks in them that touch it,
 * whose index is read. Others are needed whole.
 * @throws CorruptCheckpointError for a damaged index of a shard.
 */
export async function neededChunks(array: ZarrArray, located: readonly LocatedChunk[], context: TaskContext): Promise<ArrayChunks[]> {
  const { shard } = array.stored;
  const measured = await Promise.all(located.map((chunk) => measuredFile(array, chunk, context)));
  if (shard === undefined) return [{ array, chunks: measured.flatMap((chunk) => neededRuns(array, chunk)) }];
  const inner = innerArray(array, shard);
  const narrowed = await Promise.all(measured.map((chunk) => innerChunks(array, inner, shard, chunk, context)));
  return [
    ...(await neededChunks(
      inner,
      narrowed.flatMap((chunks) => chunks ?? []),
      context,
    )),
    { array, chunks: measured.filter((_, index) => narrowed[index] === undefined) },
  ];
}

/** A chunk that is a file of its own, and of which only a part is needed, as the range of all its bytes, where the place tells how many. */
async function measuredFile(array: ZarrArray, located: LocatedChunk, context: TaskContext): Promise<LocatedChunk> {
  const { chunk, source } = located;
  const canBeCut = array.stored.shard !== undefined || (array.codec === "none" && array.streamable);
  if (source.kind !== "file" || !canBeCut || isWhole(array, boxWithin(array, chunk))) return located;
  return { ...located, source: await measuredSource(source, array, context) };
}

const isWhole = ({ chunkShape }: ZarrArray, { shape }: Box): boolean => shape.every((length, axis) => length === chunkShape[axis]);

/** The part of a chunk that lies in the array, in the chunk's own elements. */
function boxWithin({ spec, chunkShape }: ZarrArray, { origin }: ZarrChunk): Box {
  const start = origin.map((first) => Math.max(0, -first));
  const end = chunkShape.map((length, axis) => Math.min(length, (spec.shape[axis] ?? 1) - (origin[axis] ?? 0)));
  return { start, shape: end.map((last, axis) => last - (start[axis] ?? 0)) };
}

/** A chunk that lies in a file as it is in memory, as the runs of it that are needed. */
function neededRuns(array: ZarrArray, located: LocatedChunk): LocatedChunk[] {
  const { chunk, source } = located;
  const { codec, streamable, chunkShape, chunkByteLength, spec } = array;
  if (codec !== "none" || !streamable || source.kind !== "range" || source.range.length !== chunkByteLength) return [located];
  const { itemsize } = dtypes[spec.dtype];
  const runs = boxRuns(chunkShape, boxWithin(array, chunk), Math.floor(largestGap / itemsize));
  return Array.from(runs, ({ start, end }) => {
    const range = { offset: source.range.offset + start * itemsize, length: (end - start) * itemsize };
    return { chunk, source: { ...source, range }, elementOffset: start };
  });
}

/** Longest index of a shard that is read by itself. */
const longestIndex = 16 * 1024 * 1024;

/** Chunks of a shard that touch the array; undefined where the shard has to be read whole. */
async function innerChunks(
  array: ZarrArray,
  inner: ZarrArray,
  shard: ShardLayout,
  { chunk, source }: LocatedChunk,
  { signal }: TaskContext,
): Promise<LocatedChunk[] | undefined> {
  const place = { path: "path" in source ? source.path : "", offset: source.kind === "range" ? source.range.offset : 0 };
  if (source.kind !== "range" || shard.outer.length > 0) return undefined;
  const grid = { shape: array.chunkShape, chunkShape: shard.chunkShape, keyOf: (indices: readonly number[]) => indices.join(".") };
  const box = boxWithin(array, chunk);
  const range = shardIndexRange(shard, source.range.length, place);
  if (range.length > longestIndex || isWhole(array, box)) return undefined;
  const bytes = await source.storage.read(source.path, { range: { ...range, offset: source.range.offset + range.offset }, signal });
  if (bytes === undefined) throw new CorruptCheckpointError({ ...place, expected: "a shard", received: "no such file" });
  const index = parseShardIndex(bytes, shard, source.range.length, place);
  return Array.from(chunksOf(grid, box), (entry) => ({
    chunk: innerChunk(chunk, entry),
    source: innerSource(inner, source, index, entry),
  }));
}

const innerChunk = ({ key, origin }: ZarrChunk, entry: ZarrChunk): ZarrChunk => ({
  key,
  origin: origin.map((start, axis) => start + (entry.origin[axis] ?? 0)),
});

function innerSource(inner: ZarrArray, source: ChunkSource & { kind: "range" }, index: ShardIndex, { origin }: ZarrChunk): ChunkSource {
  const found = index.rangeOf(origin.map((start, axis) => start / (inner.chunkShape[axis] ?? 1)));
  if (found === undefined) return { kind: "fill" };
  const range: ByteRange = { offset: source.range.offset + found.offset, length: found.length };
  const most = longestStored(inner);
  if (range.length <= most) return { ...source, range };
  const received = `${found.length} bytes to byte ${endOf(range)}`;
  throw new CorruptCheckpointError({ path: source.path, offset: range.offset, expected: `a chunk of at most ${most} bytes`, received });
}
