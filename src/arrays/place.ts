import { dtypes } from "./dtypes.js";
import { segmentsOf } from "./segments.js";
import type { ArraySpec, Block } from "./spec.js";

/** Copies a block to where it belongs in `target`, the bytes of the whole array in C order. */
export function placeBlock(target: Uint8Array, spec: ArraySpec, block: Block): void {
  for (const { sourceOffset, targetOffset, byteLength } of segmentsOf(spec.shape, block, dtypes[spec.dtype].itemsize)) {
    copyBytes(block.data, sourceOffset, target, targetOffset, byteLength);
  }
}

// A view costs about as much as 32 bytes copied one by one.
const shortCopy = 32;

function copyBytes(source: Uint8Array, from: number, target: Uint8Array, to: number, length: number): void {
  if (length > shortCopy) target.set(source.subarray(from, from + length), to);
  else for (let index = 0; index < length; index++) target[to + index] = source[from + index] ?? 0;
}
