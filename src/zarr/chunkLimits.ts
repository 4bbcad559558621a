import { dtypes } from "../arrays/dtypes.js";
import { elementCount } from "../arrays/spec.js";
import { UnsupportedCheckpointError } from "../errors.js";
import type { ChunkPlace } from "./elements.js";
import type { ZarrArray } from "./openArray.js";

/**
 * Most bytes of a decoded chunk that reaches over its array: the rest is decoded for nothing, and a few stored bytes may decode to any
 * number of them.
 */
export const largestOverhang = 64 * 1024 * 1024;

/**
 * Most bytes that a stored chunk of the array has: what does not compress takes a little more than its own bytes, and a shard an index
 * and a frame for each of its chunks, which may be single elements.
 */
export const longestStored = ({ chunkByteLength, stored }: ZarrArray): number =>
  (stored.shard === undefined ? 2 : 64) * chunkByteLength + 64 * 1024;

/** @throws UnsupportedCheckpointError for chunks far larger than their array. */
export function requireWarranted({ whole, spec, chunkByteLength }: ZarrArray, { path }: ChunkPlace): void {
  const { shape, dtype } = whole ?? spec;
  const arrayByteLength = elementCount(shape) * dtypes[dtype].itemsize;
  if (chunkByteLength <= Math.max(arrayByteLength, largestOverhang)) return;
  throw new UnsupportedCheckpointError(
    `${path}: a chunk of ${chunkByteLength} bytes for an array of ${arrayByteLength}; one larger than its array has at most ${largestOverhang}`,
  );
}
