import type { ByteRange } from "../../bytes/ranges.js";
import { CorruptCheckpointError, UnsupportedCheckpointError } from "../../errors.js";
import type { LocatedStorage, PacedContext } from "../../storage/located.js";
import { pathIn } from "../../storage/paths.js";
import type { ReadableStorage } from "../../storage/storage.js";
import type { TaskContext } from "../../tasks/context.js";
import type { Pace } from "../../tasks/pace.js";
import { longestStored } from "../../zarr/chunkLimits.js";
import type { ZarrArray, ZarrChunk } from "../../zarr/openArray.js";
import type { ItemIndex } from "../item/openItem.js";

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
  /** Of a run of an uncompressed chunk, which its source holds alone: its first element within the chunk. */
  readonly elementOffset?: number | undefined;
}

/** Bytes between two chunks, or parts of one, that are rather read and left out than asked for apart. */
export const largestGap = 64 * 1024;

/** Most chunks of one restore: more would take a page longer to look up than to read, and only hostile metadata asks for them. */
const mostChunks = 2 ** 19;

/**
 * Checks how many chunks there are before the first is looked up.
 * @throws UnsupportedCheckpointError for more than 2^19.
 */
export function requireFewChunks(arrays: Iterable<ZarrArray>): void {
  let count = 0;
  for (const { chunkCount } of arrays) count += chunkCount;
  if (count <= mostChunks) return;
  throw new UnsupportedCheckpointError(
    `the arrays have ${count} chunks together; at most ${mostChunks} are read at once: use templates with null for the leaves to skip`,
  );
}

/** A chunk's file as the range of all its bytes, where its place tells how many; a file that is not there stays one. */
export async function measuredSource(
  source: ChunkSource & { readonly kind: "file" },
  array: ZarrArray,
  context: TaskContext,
): Promise<ChunkSource> {
  const { storage, path } = source;
  const length = await storage.size?.(path, { signal: context.signal });
  if (length === undefined) return source;
  const range = { kind: "range", storage, path, range: { offset: 0, length } } as const;
  requireLength(range, array);
  return range;
}

/** Decoded bytes from which on a chunk's file is measured first: it is read as a stream then, and decoded by workers. */
const longFile = 16 * 1024 * 1024;

/** The sources, with a promise for each only where there is a long file among them. */
async function measuredIfLong(sources: readonly ChunkSource[], chunks: readonly ChunkOfArray[], context: TaskContext) {
  const isLong = (source: ChunkSource, array: ZarrArray | undefined): source is ChunkSource & { readonly kind: "file" } =>
    source.kind === "file" && array?.streamable === true && array.chunkByteLength > longFile;
  if (!sources.some((source, nth) => isLong(source, chunks[nth]?.array))) return sources;
  return Promise.all(
    sources.map((source, nth) => {
      const array = chunks[nth]?.array;
      return array !== undefined && isLong(source, array) ? measuredSource(source, array, context) : source;
    }),
  );
}

/** Chunks that are looked up together: few enough to block nobody for long, enough to need no promise each. */
const chunksAtOnce = 1024;

/**
 * Finds every chunk of an item's arrays without reading any; the answer has a list for each array.
 * @throws CorruptCheckpointError for a chunk that is not there although Orbax stored all of them.
 */
export async function locateChunks(
  index: ItemIndex,
  arrays: readonly ZarrArray[],
  pace: Pace,
  context: TaskContext,
): Promise<LocatedChunk[][]> {
  const located = arrays.map((): LocatedChunk[] => []);
  for (const some of batchesOf(arrays)) {
    if (pace.due) await pace.rest();
    context.signal?.throwIfAborted();
    const sources = await measuredIfLong(await sourcesOf(index.arrays, some, { signal: context.signal, pace }), some, context);
    for (const [nth, { place, array, chunk }] of some.entries()) {
      const source = sources[nth] ?? nowhere;
      if (source.kind === "range") requireLength(source, array);
      if (source.kind === "fill" && index.missingChunksAreLost(array))
        throw lostChunk(array, chunk, index.folder, index.isPart ? notInPart : notInDatabase);
      located[place]?.push({ chunk, source });
    }
  }
  return located;
}

const nowhere: ChunkSource = { kind: "fill" };

/** A chunk, its array, and which one of the arrays that is. */
interface ChunkOfArray {
  readonly place: number;
  readonly array: ZarrArray;
  readonly chunk: ZarrChunk;
}

/** All chunks of all arrays, some at a time, made when they are asked for. */
function* batchesOf(arrays: readonly ZarrArray[]): Generator<readonly ChunkOfArray[]> {
  let some: ChunkOfArray[] = [];
  for (const [place, array] of arrays.entries()) {
    for (const chunk of array.chunks()) {
      some.push({ place, array, chunk });
      if (some.length < chunksAtOnce) continue;
      yield some;
      some = [];
    }
  }
  yield some;
}

/** @throws CorruptCheckpointError for more bytes than any chunk of the array takes, before they are asked for. */
function requireLength({ path, range: { offset, length } }: ChunkSource & { kind: "range" }, array: ZarrArray): void {
  const most = longestStored(array);
  if (length <= most) return;
  throw new CorruptCheckpointError({ path, offset, expected: `a chunk of at most ${most} bytes, compressed`, received: `${length}` });
}

async function sourcesOf(
  arrays: ReadableStorage | LocatedStorage,
  chunks: readonly ChunkOfArray[],
  context: PacedContext,
): Promise<readonly ChunkSource[]> {
  const keys = chunks.map(({ chunk }) => chunk.key);
  if (!("locateAll" in arrays)) return keys.map((path) => ({ kind: "file", storage: arrays, path }));
  const locations = await arrays.locateAll(keys, context);
  return locations.map((location) => {
    if (location === undefined) return nowhere;
    const { storage, path } = location;
    if (location.range === undefined) return { kind: "file", storage, path };
    const { range, inline } = location;
    return inline === undefined ? { kind: "range", storage, path, range } : { kind: "inline", bytes: inline, path, offset: range.offset };
  });
}

const notInDatabase = "no such key in the database; where each process saved into a folder of its own, this is the part of one";
const notInPart = "no such key in this database of one process, since another wrote it: give the folder of the item, above it";

/** The error of a chunk that has to be there and is not; `folder` is the item's. */
export const lostChunk = (array: ZarrArray, { key }: ZarrChunk, folder: string, received = "no such file"): CorruptCheckpointError =>
  new CorruptCheckpointError({
    path: pathIn(folder, key),
    expected: `a chunk of array ${JSON.stringify(array.name)}, since Orbax stored all of them`,
    received,
  });
