import { dtypes } from "../arrays/dtypes.js";
import { type ArraySpec, elementCount } from "../arrays/spec.js";
import type { JsonMember } from "../bytes/jsonMember.js";
import { CorruptCheckpointError, UnsupportedCheckpointError } from "../errors.js";
import { type Compression, decodesAsItComes, isCodec } from "./compression.js";
import type { ByteOrder } from "./dtypeName.js";
import type { ChunkGrid } from "./grid.js";
import type { RawDocument } from "./rawDocument.js";
import type { ShardLayout } from "./shardIndex.js";

/** What the metadata of either zarr version say, checked and in one form. */
export interface ArrayMetadata {
  readonly spec: ArraySpec;
  /** Its keys are relative to the array. */
  readonly grid: ChunkGrid;
  /** What was done to the bytes of a chunk; where there are shards, of the innermost one. */
  readonly compression: Compression;
  readonly byteOrder: ByteOrder;
  /** Whether elements of a decoded chunk are in another order than C's. */
  readonly transposed: boolean;
  /** One element, little endian, for chunks that were left out. */
  readonly fill: Uint8Array | Promise<Uint8Array>;
  /** Whether no fill value is given, so that writers leave out no chunk that equals it. */
  readonly fillIsNull: boolean;
  /** The same metadata in words that zarrita knows, without the compressor; only where elements have to be put into another order. */
  readonly document?: RawDocument | undefined;
  /** How a chunk is divided further, where it is a shard. */
  readonly shard?: ShardLayout | undefined;
}

/** Most axes of an array, as in TensorStore. */
const mostAxes = 32;

/**
 * Most bytes of a chunk that has to be in memory whole, since its elements are in another order or behind an index; others
 * stream. The same as the longest chunk that Orbax makes.
 */
const largestWholeChunk = 2 ** 31;

/** Reads a list of lengths, each a safe integer from `least` on. */
export function readLengths(member: JsonMember, least: number): number[] {
  const lengths = member.integers();
  const wrong = lengths.findIndex((length) => !(Number.isSafeInteger(length) && length >= least));
  if (wrong >= 0) member.list()[wrong]?.fail(`a whole number from ${least} to 2^53 - 1`);
  return lengths.length <= mostAxes ? lengths : member.fail(`at most ${mostAxes} axes`, `${lengths.length}`);
}

/** A string that must be one of a few. */
export function oneOf<const Choice extends string>(member: JsonMember, choices: readonly Choice[]): Choice {
  const value = member.string();
  return choices.find((choice) => choice === value) ?? member.fail(choices.map((choice) => JSON.stringify(choice)).join(" or "));
}

/** @throws UnsupportedCheckpointError for a codec that there is no decoder for. */
export function requireCodec(name: string, path: string): string {
  if (isCodec(name)) return name;
  throw new UnsupportedCheckpointError(
    `${path}: compressor ${JSON.stringify(name)} is not read; zstd, gzip, zlib and blosc are, or none: write the array again with one of these`,
  );
}

/**
 * Checks that sizes in bytes stay safe integers, and a chunk that cannot be streamed within memory, before anything counts on them.
 * @throws CorruptCheckpointError for sizes beyond 2^53 - 1, UnsupportedCheckpointError for a chunk too large to hold whole.
 */
export function checkSizes({ spec, grid, transposed, shard, compression }: Omit<ArrayMetadata, "fill">, path: string): void {
  const { itemsize } = dtypes[spec.dtype];
  for (const shape of [spec.shape, grid.chunkShape]) {
    if (Number.isSafeInteger(elementCount(shape) * itemsize)) continue;
    throw new CorruptCheckpointError({ path, expected: "sizes below 2^53 bytes", received: `[${shape.join(", ")}] of ${spec.dtype}` });
  }
  const chunkBytes = elementCount(grid.chunkShape) * itemsize;
  const streams = !transposed && shard === undefined && decodesAsItComes(compression);
  if (!streams && chunkBytes > largestWholeChunk) {
    throw new UnsupportedCheckpointError(`${path}: chunks of ${chunkBytes} bytes that cannot be streamed; up to 2 GiB are read`);
  }
}
