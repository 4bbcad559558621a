import type { Box } from "../arrays/spec.js";

/** One chunk of an array. */
export interface ZarrChunk {
  /** Full key in the storage. */
  readonly key: string;
  /** Element of the array where the chunk's first element lies; of a region, before it where negative. */
  readonly origin: readonly number[];
}

/** How the chunks of an array are laid out and called. */
export interface ChunkGrid {
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  /** Key of a chunk by its indices. */
  readonly keyOf: (indices: readonly number[]) => string;
}

type GridShape = Pick<ChunkGrid, "shape" | "chunkShape">;

/** Number of chunks, or of those that a box touches; 0 where an axis has length 0, 1 for a scalar. */
export const chunkCount = (grid: GridShape, box?: Box): number =>
  indexRanges(grid, box).reduce((count, { first, end }) => count * (end - first), 1);

/** All chunks in C order, or those that a box touches, one by one: a grid may have more of them than memory. */
export function* chunksOf(grid: ChunkGrid, box?: Box): Generator<ZarrChunk> {
  const ranges = indexRanges(grid, box);
  if (ranges.some(({ first, end }) => first === end)) return;
  const indices = ranges.map(({ first }) => first);
  for (;;) {
    yield { key: grid.keyOf(indices), origin: indices.map((index, axis) => index * (grid.chunkShape[axis] ?? 1)) };
    let axis = ranges.length - 1;
    while (axis >= 0 && (indices[axis] ?? 0) + 1 === ranges[axis]?.end) indices[axis] = ranges[axis--]?.first ?? 0;
    if (axis < 0) return;
    indices[axis] = (indices[axis] ?? 0) + 1;
  }
}

/** The indices of chunks along each axis. */
const indexRanges = ({ shape, chunkShape }: GridShape, box: Box = { start: shape.map(() => 0), shape }) =>
  box.shape.map((length, axis) => {
    const start = box.start[axis] ?? 0;
    const chunk = chunkShape[axis] ?? 1;
    const first = Math.floor(start / chunk);
    return { first, end: length === 0 ? first : Math.ceil((start + length) / chunk) };
  });
