import { elementCount } from "../arrays/spec.js";

/** How the chunks of a regular grid lie in their array's bytes. */
export interface ChunkRows {
  /** Fewest bytes that lie side by side both in a chunk and in the array. */
  readonly shortestRow: number;
  /** Such rows of all chunks together. */
  readonly rowCount: number;
  /** Most such rows of one chunk; 1 where chunks lie in the array without gaps. */
  readonly rowsPerChunk: number;
  /** Whether each row begins at a whole 32-bit word. */
  readonly aligned: boolean;
}

/** Describes the grid of chunks of one shape. Chunks at the array's edge may reach over it; only what lies inside counts. */
export function chunkRowsOf(arrayShape: readonly number[], chunkShape: readonly number[], itemsize: number): ChunkRows {
  const axis = rowAxisOf(arrayShape, chunkShape);
  const length = arrayShape[axis] ?? 1;
  const chunkLength = Math.min(chunkShape[axis] ?? 1, length);
  const inner = elementCount(arrayShape.slice(axis + 1)) * itemsize;
  const outer = arrayShape.slice(0, axis);
  const steps = [chunkLength * inner, length * inner];
  return {
    aligned: steps.every((bytes) => bytes % 4 === 0),
    shortestRow: (length % chunkLength || chunkLength) * inner,
    rowCount: elementCount(outer) * Math.ceil(length / chunkLength),
    rowsPerChunk: elementCount(outer.map((outerLength, index) => Math.min(outerLength, chunkShape[index] ?? 1))),
  };
}

/** The axis along which rows are cut: the innermost one that chunks do not cover exactly. */
function rowAxisOf(arrayShape: readonly number[], chunkShape: readonly number[]): number {
  let axis = arrayShape.length - 1;
  while (axis > 0 && chunkShape[axis] === arrayShape[axis]) axis--;
  return Math.max(axis, 0);
}
