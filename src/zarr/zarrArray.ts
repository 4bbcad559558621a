import { dtypes } from "../arrays/dtypes.js";
import { type ArraySpec, type Box, elementCount } from "../arrays/spec.js";
import { type Compression, decodesAsItComes } from "./compression.js";
import type { ByteOrder } from "./dtypeName.js";
import type { ZarrChunk } from "./grid.js";
import type { ShardLayout } from "./shardIndex.js";

/** A zarr array, known before any of its chunks is read. */
export interface ZarrArray {
  /** Key of the array in the storage; `""` for the storage's root. */
  readonly name: string;
  /** Version of zarr. */
  readonly version: 2 | 3;
  readonly spec: ArraySpec;
  readonly chunkShape: readonly number[];
  /** Number of chunks; 0 for an array without elements. */
  readonly chunkCount: number;
  /** Bytes of a decoded chunk, the same for all: chunks at the edge are stored whole. */
  readonly chunkByteLength: number;
  /** Name of the compressor, `"none"` without one; several joined with `+`. */
  readonly codec: string;
  /** Whether a chunk can be decoded from its first byte on; others have to be in memory whole. */
  readonly streamable: boolean;
  /** Whether the array has no fill value, so that writers leave out no chunk that equals it. */
  readonly fillIsNull: boolean;
  /** How stored elements differ from those in memory, for {@link readBlocks} and {@link fillBlocks}. */
  readonly stored: StoredElements;
  /** Of a region, which is an array by itself: the array that it is of. */
  readonly whole?: ArraySpec | undefined;
  /** All chunks in C order, or those that a box touches, made one by one. */
  chunks(box?: Box): Iterable<ZarrChunk>;
}

/** How elements lie in a stored chunk. */
interface StoredElements {
  readonly byteOrder: ByteOrder;
  /** What was done to the bytes of a chunk; where there are shards, of the innermost one. */
  readonly compression: Compression;
  /** Brings a chunk of another element order into C order. */
  readonly toRowMajor?: ((bytes: Uint8Array) => Promise<Uint8Array>) | undefined;
  /** How a chunk is divided further, where it is a shard. */
  readonly shard?: ShardLayout | undefined;
  /** One element, little endian, that chunks which were left out are full of. */
  readonly fill: Uint8Array;
}

/** Whether a chunk can be decoded from its first byte on. */
export const isStreamable = ({ compression, toRowMajor, shard }: StoredElements): boolean =>
  toRowMajor === undefined && shard === undefined && decodesAsItComes(compression);

/** The chunks of an array's shards as an array: they lie within the shards, and are chunks like others, or shards again. */
export function innerArray(array: ZarrArray, { chunkShape, inner }: ShardLayout): ZarrArray {
  const stored = { ...array.stored, shard: inner };
  const chunkByteLength = elementCount(chunkShape) * dtypes[array.spec.dtype].itemsize;
  return { ...array, chunkShape, chunkByteLength, streamable: isStreamable(stored), stored };
}
