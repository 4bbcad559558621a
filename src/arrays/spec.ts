import type { Dtype } from "./dtypes.js";

/** Shape (elements along each axis, outermost first; `[]` for a scalar) and dtype of an array. */
export interface ArraySpec {
  readonly shape: readonly number[];
  readonly dtype: Dtype;
}

/**
 * Some consecutive elements of a chunk, in C order. Chunk and array coordinates are in elements; `data` is little endian.
 * A chunk may reach over the array's edges, and begin before it where the array is a part of a larger one: elements outside are dropped
 * where the block is placed.
 */
export interface Block {
  /** Where the chunk's first element lies in the array. */
  readonly origin: readonly number[];
  /** Full shape of the chunk. */
  readonly shape: readonly number[];
  /** Index of the block's first element within the chunk, in C order. */
  readonly elementOffset: number;
  readonly data: Uint8Array;
}

/** A part of an array: where it begins, and how long it is along each axis, in elements. */
export interface Box {
  readonly start: readonly number[];
  readonly shape: readonly number[];
}

/** Number of elements of a shape; 1 for a scalar. */
export const elementCount = (shape: readonly number[]): number => shape.reduce((count, length) => count * length, 1);
