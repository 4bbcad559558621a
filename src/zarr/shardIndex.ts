import { elementCount } from "../arrays/spec.js";
import { crc32c } from "../bytes/crc32c.js";
import { type ByteRange, endOf } from "../bytes/ranges.js";
import { CorruptCheckpointError } from "../errors.js";
import type { Compression } from "./compression.js";
import type { ByteOrder } from "./dtypeName.js";
import type { ChunkPlace } from "./elements.js";

/** How a shard is divided into chunks that are compressed on their own (zarr v3's `sharding_indexed`). */
export interface ShardLayout {
  readonly chunkShape: readonly number[];
  /** Chunks along each axis of a shard. */
  readonly chunksPerShard: readonly number[];
  /** Axes in the order in which the index has the chunks, outermost first, where that is not the array's: behind a `transpose`. */
  readonly indexOrder?: readonly number[] | undefined;
  readonly indexLocation: "start" | "end";
  readonly indexByteOrder: ByteOrder;
  /** Whether a CRC-32C follows the index. */
  readonly indexIsChecked: boolean;
  /** What was done to the shard as a whole. */
  readonly outer: Compression;
  /** How its chunks are divided further, where they are shards themselves. */
  readonly inner?: ShardLayout | undefined;
}

/** One chunk of a shard. */
export interface ShardEntry {
  /** Indices of the chunk within the shard. */
  readonly indices: readonly number[];
  /** Byte of the shard where it begins. */
  readonly offset: number;
  /** Its compressed bytes; undefined where it was left out. */
  readonly bytes: Uint8Array | undefined;
}

/** The index of a shard, checked. */
export interface ShardIndex {
  /**
   * The bytes of a chunk within the shard; undefined where it was left out.
   * @throws CorruptCheckpointError for bytes outside the shard.
   */
  rangeOf(indices: readonly number[]): ByteRange | undefined;
}

/** Two unsigned 64-bit integers for each chunk. */
const entryBytes = 16;
const checksumBytes = 4;
/** Offset and length of a chunk that was left out. */
const absent = 2n ** 64n - 1n;

/**
 * The chunks of a shard in C order; its index is checked first, its checksum too where it has one.
 * @throws CorruptCheckpointError for a damaged index, or one that points outside the shard.
 */
export function* readShard(shard: Uint8Array, layout: ShardLayout, place: ChunkPlace): Generator<ShardEntry> {
  const { offset, length } = shardIndexRange(layout, shard.length, place);
  const index = parseShardIndex(shard.subarray(offset, offset + length), layout, shard.length, place);
  const count = elementCount(layout.chunksPerShard);
  for (let entry = 0; entry < count; entry++) {
    const indices = indicesOf(entry, layout.chunksPerShard);
    const range = index.rangeOf(indices);
    yield { indices, offset: range?.offset ?? 0, bytes: range && shard.subarray(range.offset, endOf(range)) };
  }
}

/**
 * Where the index of a shard stands among its bytes.
 * @param place the shard's.
 * @throws CorruptCheckpointError for a shard that is shorter than its index.
 */
export function shardIndexRange(
  { chunksPerShard, indexLocation, indexIsChecked }: ShardLayout,
  shardLength: number,
  place: ChunkPlace,
): ByteRange {
  const length = elementCount(chunksPerShard) * entryBytes + (indexIsChecked ? checksumBytes : 0);
  if (length <= shardLength) return { offset: indexLocation === "end" ? shardLength - length : 0, length };
  throw new CorruptCheckpointError({ ...place, expected: `a shard with an index of ${length} bytes`, received: `${shardLength} bytes` });
}

/**
 * Reads the index of a shard.
 * @param place the shard's.
 * @throws CorruptCheckpointError where its checksum is another one.
 */
export function parseShardIndex(bytes: Uint8Array, layout: ShardLayout, shardLength: number, place: ChunkPlace): ShardIndex {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (layout.indexIsChecked)
    requireChecksum(bytes, view, { ...place, offset: place.offset + shardIndexRange(layout, shardLength, place).offset });
  const isLittle = layout.indexByteOrder === "little";
  return {
    rangeOf(indices) {
      const entry = entryOf(indices, layout);
      const offset = view.getBigUint64(entry * entryBytes, isLittle);
      const length = view.getBigUint64(entry * entryBytes + 8, isLittle);
      if (offset === absent && length === absent) return undefined;
      if (offset + length <= BigInt(shardLength)) return { offset: Number(offset), length: Number(length) };
      throw new CorruptCheckpointError({
        ...place,
        expected: `chunk ${entry} within the shard's ${shardLength} bytes`,
        received: `${length} bytes from byte ${offset}`,
      });
    },
  };
}

function requireChecksum(bytes: Uint8Array, view: DataView, place: ChunkPlace): void {
  const end = bytes.length - checksumBytes;
  const received = crc32c(bytes.subarray(0, end));
  const expected = view.getUint32(end, true);
  if (received === expected) return;
  throw new CorruptCheckpointError({
    ...place,
    expected: `a shard index with CRC-32C ${expected.toString(16)}`,
    received: received.toString(16),
  });
}

const entryOf = (indices: readonly number[], { chunksPerShard, indexOrder = [...chunksPerShard.keys()] }: ShardLayout): number =>
  indexOrder.reduce((entry, axis) => entry * (chunksPerShard[axis] ?? 1) + (indices[axis] ?? 0), 0);

function indicesOf(entry: number, lengths: readonly number[]): number[] {
  let rest = entry;
  const indices = lengths.map(() => 0);
  for (let axis = lengths.length - 1; axis >= 0; axis--) {
    const length = lengths[axis] ?? 1;
    indices[axis] = rest % length;
    rest = Math.floor(rest / length);
  }
  return indices;
}
