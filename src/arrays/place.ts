import { copyBytes } from "./copyBytes.js";
import { dtypes } from "./dtypes.js";
import { segmentsOf } from "./segments.js";
import type { ArraySpec, Block } from "./spec.js";

/** Copies a block to where it belongs in `target`, the bytes of the whole array in C order. */
export function placeBlock(target: Uint8Array, spec: ArraySpec, block: Block): void {
  for (const { sourceOffset, targetOffset, byteLength } of segmentsOf(spec.shape, block, dtypes[spec.dtype].itemsize)) {
    copyBytes(block.data, sourceOffset, target, targetOffset, byteLength);
  }
}
