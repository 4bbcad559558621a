import type { ByteRange } from "../bytes/ranges.js";
import { CorruptCheckpointError, UnsupportedCheckpointError } from "../errors.js";
import type { OcdbtDatabase } from "../ocdbt/open.js";
import type { ReadableStorage } from "../storage/storage.js";
import type { TaskContext } from "../tasks/context.js";
import type { ZarrArray, ZarrChunk } from "../zarr/openArray.js";
import type { ItemIndex } from "./openItem.js";

/** Where the bytes of a chunk are. */
export type ChunkSource =
  /** In the index, which is read already. */
  | { readonly kind: "inline"; readonly bytes: Uint8Array; readonly path: string; readonly offset: number }
  /** A run of bytes of a data file. */
  | { readonly kind: "range"; readonly storage: ReadableStorage; readonly path: string; readonly range: ByteRange }
  /** A file of its own, of unknown length. */
  | { readonly kind: "file"; readonly storage: ReadableStorage; readonly path: string }
  /** Nowhere: every element is the fill value. */
  | { readonly kind: "fill" };

/** A chunk and its source. */
export interface LocatedChunk {
  readonly chunk: ZarrChunk;
  readonly source: ChunkSource;
}

/** Most chunks of one array; an index of more would not fit the pages this is for, and only hostile metadata asks for it. */
const mostChunks = 2 ** 24;

/**
 * Finds every chunk of an array without reading any.
 * @throws CorruptCheckpointError for a chunk that is not there although Orbax stored all of them.
 * @throws UnsupportedCheckpointError for more than 2^24 chunks.
 */
export async function locateChunks(index: ItemIndex, array: ZarrArray, context: TaskContext): Promise<LocatedChunk[]> {
  if (array.chunkCount > mostChunks) {
    throw new UnsupportedCheckpointError(
      `${index.name} ${array.name}: ${array.chunkCount} chunks; at most ${mostChunks} of an array are read`,
    );
  }
  const located: LocatedChunk[] = [];
  for (const chunk of array.chunks()) {
    context.signal?.throwIfAborted();
    const source = await locate(index.arrays, chunk, context);
    if (source.kind === "fill" && index.missingChunksAreLost) throw lostChunk(array, chunk, index.folder);
    located.push({ chunk, source });
  }
  return located;
}

async function locate(arrays: ReadableStorage | OcdbtDatabase, { key }: ZarrChunk, context: TaskContext): Promise<ChunkSource> {
  if (!("locate" in arrays)) return { kind: "file", storage: arrays, path: key };
  const location = await arrays.locate(key, context);
  if (location === undefined) return { kind: "fill" };
  const { storage, path, range, inline } = location;
  return inline === undefined ? { kind: "range", storage, path, range } : { kind: "inline", bytes: inline, path, offset: range.offset };
}

/** The error of a chunk that has to be there and is not; `folder` is the item's. */
export const lostChunk = (array: ZarrArray, { key }: ZarrChunk, folder: string): CorruptCheckpointError =>
  new CorruptCheckpointError({
    path: `${folder}/${key}`,
    expected: `a chunk of array ${JSON.stringify(array.name)}, since Orbax stored all of them`,
    received: "no such key in the database",
  });
