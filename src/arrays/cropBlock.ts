import { copyBytes } from "./copyBytes.js";
import { segmentsOf } from "./segments.js";
import { type Block, elementCount } from "./spec.js";

/**
 * The elements of a block that lie in the array, as a block of the part of its chunk that does; undefined where there are none. They are copied
 * where others lie between them.
 */
export function cropBlock(block: Block, arrayShape: readonly number[], itemsize: number): Block | undefined {
  const origin = block.origin.map((start) => Math.max(0, start));
  const shape = block.shape.map(
    (length, axis) => Math.min((block.origin[axis] ?? 0) + length, arrayShape[axis] ?? 1) - (origin[axis] ?? 0),
  );
  if (shape.every((length, axis) => length === block.shape[axis])) return block;
  if (shape.some((length) => length <= 0)) return undefined;
  const within = { ...block, origin: block.origin.map((start) => Math.min(0, start)) };
  const found = bytesWithin(within, shape, itemsize);
  return found && { origin, shape, elementOffset: found.start / itemsize, data: found.data };
}

/** The bytes of a block that lie in an array, one after the other as they are there, and where they begin. */
function bytesWithin(block: Block, shape: readonly number[], itemsize: number): { start: number; data: Uint8Array } | undefined {
  const segments = segmentsOf(shape, block, itemsize);
  const first = segments.next().value;
  if (first === undefined) return undefined;
  const start = first.targetOffset;
  let data = block.data.subarray(first.sourceOffset, first.sourceOffset + first.byteLength);
  let length = first.byteLength;
  for (const { sourceOffset, byteLength } of segments) {
    if (length === first.byteLength) data = startOf(data, Math.min(block.data.length, elementCount(shape) * itemsize - start));
    copyBytes(block.data, sourceOffset, data, length, byteLength);
    length += byteLength;
  }
  return { start, data: data.subarray(0, length) };
}

/** Memory of a length that begins with these bytes. */
function startOf(bytes: Uint8Array, length: number): Uint8Array {
  const memory = new Uint8Array(length);
  memory.set(bytes);
  return memory;
}
