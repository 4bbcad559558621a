/** One chunk of an array. */
export interface ZarrChunk {
  /** Full key in the storage. */
  readonly key: string;
  /** Element of the array where the chunk's first element lies. */
  readonly origin: readonly number[];
}

/** How the chunks of an array are laid out and called. */
export interface ChunkGrid {
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  /** Key of a chunk by its indices. */
  readonly keyOf: (indices: readonly number[]) => string;
}

/** Number of chunks; 0 where an axis has length 0, 1 for a scalar. */
export const chunkCount = (grid: ChunkGrid): number => extents(grid).reduce((count, length) => count * length, 1);

/** All chunks in C order, one by one: a grid may have more of them than memory. */
export function* chunksOf(grid: ChunkGrid): Generator<ZarrChunk> {
  const lengths = extents(grid);
  const indices = lengths.map(() => 0);
  if (lengths.includes(0)) return;
  for (;;) {
    yield { key: grid.keyOf(indices), origin: indices.map((index, axis) => index * (grid.chunkShape[axis] ?? 1)) };
    let axis = lengths.length - 1;
    while (axis >= 0 && (indices[axis] ?? 0) + 1 === lengths[axis]) indices[axis--] = 0;
    if (axis < 0) return;
    indices[axis] = (indices[axis] ?? 0) + 1;
  }
}

const extents = ({ shape, chunkShape }: ChunkGrid): number[] => shape.map((length, axis) => Math.ceil(length / (chunkShape[axis] ?? 1)));
