import { elementCount } from "../arrays/spec.js";
import { crc32c } from "../bytes/crc32c.js";
import { CorruptCheckpointError } from "../errors.js";
import type { ChunkPlace } from "./elements.js";

/** How a shard is divided into chunks that are compressed on their own (zarr v3's `sharding_indexed`). */
export interface ShardLayout {
  readonly chunkShape: readonly number[];
  /** Chunks along each axis of a shard. */
  readonly chunksPerShard: readonly number[];
  readonly indexLocation: "start" | "end";
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

/** Two unsigned 64-bit integers for each chunk. */
const entryBytes = 16;
const checksumBytes = 4;
/** Offset and length of a chunk that was left out. */
const absent = 2n ** 64n - 1n;

/**
 * The chunks of a shard in C order; its index is checked first, checksum included.
 * @throws CorruptCheckpointError for a damaged index, or one that points outside the shard.
 */
export function* readShard(shard: Uint8Array, { chunksPerShard, indexLocation }: ShardLayout, place: ChunkPlace): Generator<ShardEntry> {
  const count = elementCount(chunksPerShard);
  const index = readIndex(shard, count * entryBytes, indexLocation, place);
  for (let entry = 0; entry < count; entry++) {
    const offset = index.getBigUint64(entry * entryBytes, true);
    const length = index.getBigUint64(entry * entryBytes + 8, true);
    const indices = indicesOf(entry, chunksPerShard);
    if (offset === absent && length === absent) {
      yield { indices, offset: 0, bytes: undefined };
      continue;
    }
    if (offset + length > BigInt(shard.length)) {
      throw new CorruptCheckpointError({
        ...place,
        expected: `chunk ${entry} within the shard's ${shard.length} bytes`,
        received: `${length} bytes from byte ${offset}`,
      });
    }
    yield { indices, offset: Number(offset), bytes: shard.subarray(Number(offset), Number(offset + length)) };
  }
}

function readIndex(shard: Uint8Array, indexBytes: number, location: "start" | "end", { path, offset }: ChunkPlace): DataView {
  const whole = indexBytes + checksumBytes;
  if (shard.length < whole) {
    throw new CorruptCheckpointError({
      path,
      offset,
      expected: `a shard with an index of ${whole} bytes`,
      received: `${shard.length} bytes`,
    });
  }
  const start = location === "end" ? shard.length - whole : 0;
  const index = new DataView(shard.buffer, shard.byteOffset + start, whole);
  const received = crc32c(shard.subarray(start, start + indexBytes));
  const expected = index.getUint32(indexBytes, true);
  if (received === expected) return index;
  throw new CorruptCheckpointError({
    path,
    offset: offset + start,
    expected: `a shard index with CRC-32C ${expected.toString(16)}`,
    received: received.toString(16),
  });
}

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
