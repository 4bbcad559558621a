import { dtypes } from "../arrays/dtypes.js";
import { type ArraySpec, elementCount } from "../arrays/spec.js";
import type { ByteRange } from "../bytes/ranges.js";
import { formatZarray } from "./formatZarray.js";
import { type ChunkGrid, chunkCount, chunksOf } from "./grid.js";
import { keyPrefix } from "./keyPrefix.js";

/** How {@link encodeArray} stores an array. */
export interface EncodeOptions {
  /** What chunks are going to be compressed with; `"none"` by default. */
  readonly compression?: "none" | "zstd" | undefined;
  /** Most bytes of a chunk before compression; 16 MiB by default. */
  readonly longestChunk?: number | undefined;
}

/** An array as zarr v2 stores it. */
export interface EncodedArray {
  /** The array's `.zarray`, as TensorStore writes it for Orbax. */
  readonly metadata: { readonly key: string; readonly text: string };
  /** In elements. */
  readonly chunkShape: readonly number[];
  readonly chunkCount: number;
  /** Bytes of each chunk before compression. */
  readonly chunkByteLength: number;
  /** All chunks in C order, made one by one. */
  chunks(): Iterable<EncodedChunk>;
}

/** A chunk to be written: a run of the array's elements in C order, and zeros where the chunk reaches over the array's edge. */
export interface EncodedChunk {
  readonly key: string;
  /** Which of the array's bytes, in C order. */
  readonly range: ByteRange;
  /** How many zero bytes follow them. */
  readonly paddingBytes: number;
}

const longestByDefault = 16 * 1024 * 1024;

/**
 * Lays out an array for writing. It is split along its leading axes only, so that each chunk is a run of its bytes: readers then restore
 * chunks side by side, and a writer never gathers elements. An array without elements has no chunks.
 * @param name of the array among the keys; `""` for a bare one.
 */
export function encodeArray(name: string, { shape, dtype }: ArraySpec, options: EncodeOptions = {}): EncodedArray {
  const { itemsize } = dtypes[dtype];
  const chunkShape = chunkShapeOf(shape, Math.floor((options.longestChunk ?? longestByDefault) / itemsize));
  const prefix = keyPrefix(name);
  const grid: ChunkGrid = { shape, chunkShape, keyOf: (indices) => prefix + (indices.join(".") || "0") };
  const chunkByteLength = elementCount(chunkShape) * itemsize;
  return {
    metadata: { key: `${prefix}.zarray`, text: formatZarray({ shape, dtype }, chunkShape, options.compression ?? "none") },
    chunkShape,
    chunkCount: chunkCount(grid),
    chunkByteLength,
    *chunks() {
      for (const { key, origin } of chunksOf(grid)) {
        const present = chunkShape.map((length, axis) => Math.min(length, (shape[axis] ?? 0) - (origin[axis] ?? 0)));
        const length = elementCount(present) * itemsize;
        yield { key, range: { offset: indexOf(origin, shape) * itemsize, length }, paddingBytes: chunkByteLength - length };
      }
    },
  };
}

/** Trailing axes whole as far as they fit, one axis split evenly, and one element of those before it. */
function chunkShapeOf(shape: readonly number[], mostElements: number): number[] {
  const chunk = shape.map(() => 1);
  let elements = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const length = Math.max(shape[axis] ?? 1, 1);
    const most = Math.floor(mostElements / elements);
    chunk[axis] = length <= most ? length : evenPart(length, most);
    elements *= length;
    if (length > most) break;
  }
  return chunk;
}

/** A length of at most `most` that divides the whole, where one of not many more parts does; else one that leaves little over. */
function evenPart(whole: number, most: number): number {
  const fewest = Math.ceil(whole / most);
  for (let parts = fewest; parts <= Math.min(1.5 * fewest, fewest + mostTries); parts++) if (whole % parts === 0) return whole / parts;
  return Math.ceil(whole / fewest);
}

/** Where there are so many parts that none of these numbers divides, what is over is little. */
const mostTries = 1000;

/** Index of an element in C order. */
const indexOf = (indices: readonly number[], shape: readonly number[]): number =>
  indices.reduce((index, position, axis) => index * (shape[axis] ?? 1) + position, 0);
