import { dtypes } from "../arrays/dtypes.js";
import { type Block, elementCount } from "../arrays/spec.js";
import type { TaskContext } from "../tasks/context.js";
import { largestOverhang, longestStored, requireWarranted } from "./chunkLimits.js";
import { decodeChunk, decodeChunkStream } from "./decodeChunk.js";
import { decompress } from "./decompress.js";
import type { ChunkPlace } from "./elements.js";
import { filledBlocks } from "./fillBlocks.js";
import type { ZarrArray, ZarrChunk } from "./openArray.js";
import type { ShardLayout } from "./shardIndex.js";

/** Longest chunk, decoded and in bytes, that is decoded at once where its stored bytes are in memory: a quarter of the default budget. */
const longestWhole = 16 * 1024 * 1024;

/**
 * Decodes one chunk into blocks of whole elements, in C order and as memory holds them: one block where the stored bytes are
 * in memory, many where they come as a stream or the chunk is long. A block's data may be reused when the next one is asked for.
 * @param from file and byte where the stored bytes begin, for errors.
 * @throws CorruptCheckpointError for bytes that do not decode to exactly the chunk's length, or to bools that are none.
 * @throws UnsupportedCheckpointError for chunks far larger than their array.
 */
export async function* readBlocks(
  array: ZarrArray,
  chunk: ZarrChunk,
  source: Uint8Array | AsyncIterable<Uint8Array>,
  from: ChunkPlace,
  context: TaskContext = {},
): AsyncGenerator<Block> {
  requireWarranted(array, from);
  const { shard } = array.stored;
  const inMemory = source instanceof Uint8Array;
  if (array.streamable && !(inMemory && array.chunkByteLength <= longestWhole)) {
    yield* streamedBlocks(array, chunk, inMemory ? once(source) : source, from, context);
    return;
  }
  const bytes = inMemory ? source : await collected(source);
  if (shard !== undefined) yield* shardBlocks(array, shard, chunk.origin, bytes, from, context);
  else yield await wholeBlock(array, chunk.origin, array.chunkShape, bytes, from, context);
}

async function* streamedBlocks(
  array: ZarrArray,
  { origin }: ZarrChunk,
  pieces: AsyncIterable<Uint8Array>,
  from: ChunkPlace,
  context: TaskContext,
): AsyncGenerator<Block> {
  const { itemsize } = dtypes[array.spec.dtype];
  let elementOffset = 0;
  for await (const data of decodeChunkStream(array, pieces, from, context)) {
    yield { origin, shape: array.chunkShape, elementOffset, data };
    elementOffset += data.length / itemsize;
  }
}

async function wholeBlock(
  array: ZarrArray,
  origin: readonly number[],
  shape: readonly number[],
  bytes: Uint8Array,
  from: ChunkPlace,
  context: TaskContext,
): Promise<Block> {
  const byteLength = elementCount(shape) * dtypes[array.spec.dtype].itemsize;
  return { origin, shape, elementOffset: 0, data: await decodeChunk(array, bytes, byteLength, from, context) };
}

async function* shardBlocks(
  array: ZarrArray,
  shard: ShardLayout,
  origin: readonly number[],
  bytes: Uint8Array,
  { path, offset }: ChunkPlace,
  context: TaskContext,
): AsyncGenerator<Block> {
  const longest = Math.min(longestStored(array), 2 * array.chunkByteLength + largestOverhang);
  const whole = await decompress(shard.outer, bytes, { exact: undefined, longest }, { path, offset }, context);
  const { readShard } = await import("./shardIndex.js");
  for (const entry of readShard(whole, shard, { path, offset })) {
    context.signal?.throwIfAborted();
    const shape = shard.chunkShape;
    const corner = origin.map((start, axis) => start + (entry.indices[axis] ?? 0) * (shape[axis] ?? 1));
    const place = { path, offset: offset + entry.offset };
    if (corner.some((start, axis) => start + (shape[axis] ?? 1) <= 0 || start >= (array.spec.shape[axis] ?? 1))) continue;
    if (entry.bytes === undefined) yield* filledBlocks(corner, shape, array.stored.fill);
    else if (shard.inner !== undefined) yield* shardBlocks(array, shard.inner, corner, entry.bytes, place, context);
    else yield await wholeBlock(array, corner, shape, entry.bytes, place, context);
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** All pieces in one; a copy of each, since a piece may be reused. */
async function collected(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece.slice());
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let length = 0;
  for (const part of parts) {
    bytes.set(part, length);
    length += part.length;
  }
  return bytes;
}
