import { type Block, elementCount } from "../arrays/spec.js";
import type { ZarrArray, ZarrChunk } from "./openArray.js";

/** Longest block in bytes. */
const longestBlock = 1024 * 1024;

/**
 * Blocks of a chunk that was left out because it equals the fill value, as far as it lies in the array; at most 1 MiB each,
 * and all of them views of the same memory.
 */
export function* fillBlocks({ spec, chunkShape, stored }: ZarrArray, { origin }: ZarrChunk): Generator<Block> {
  const inside = origin.map((start) => Math.max(0, start));
  const ends = chunkShape.map((length, axis) => Math.min((origin[axis] ?? 0) + length, spec.shape[axis] ?? 1));
  yield* filledBlocks(
    inside,
    ends.map((end, axis) => end - (inside[axis] ?? 0)),
    stored.fill,
  );
}

/** Blocks of `shape` at `origin`, full of one element. */
export function* filledBlocks(origin: readonly number[], shape: readonly number[], element: Uint8Array): Generator<Block> {
  const count = shape.some((length) => length <= 0) ? 0 : elementCount(shape);
  const longest = Math.min(count, Math.floor(longestBlock / element.length));
  const filled = repeated(element, longest);
  for (let elementOffset = 0; elementOffset < count; elementOffset += longest) {
    yield { origin, shape, elementOffset, data: filled.subarray(0, Math.min(longest, count - elementOffset) * element.length) };
  }
}

function repeated(element: Uint8Array, count: number): Uint8Array {
  const bytes = new Uint8Array(element.length * count);
  if (element.every((byte) => byte === 0)) return bytes;
  bytes.set(element.subarray(0, bytes.length));
  for (let length = element.length; length < bytes.length; length *= 2)
    bytes.copyWithin(length, 0, Math.min(length, bytes.length - length));
  return bytes;
}
