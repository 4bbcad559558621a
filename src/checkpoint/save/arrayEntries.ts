import { mostEncoders } from "../../codecs/zstd/encoders.js";
import { encodeZstd } from "../../codecs/zstd/encodeZstd.js";
import { type BufferPiece, readBackPieces } from "../../gpu/readBackPieces.js";
import type { StreamedValue } from "../../ocdbt/dataFileWriter.js";
import type { OcdbtEntry } from "../../ocdbt/write.js";
import type { TaskContext } from "../../tasks/context.js";
import { Pace } from "../../tasks/pace.js";
import { workAhead } from "../../tasks/workAhead.js";
import { type EncodedArray, type EncodedChunk, encodeArray } from "../../zarr/encodeArray.js";
import { writeElements } from "../../zarr/writeElements.js";
import type { LeafProgress } from "../restore/restoreProgress.js";
import type { PlannedArray } from "./planSave.js";
import type { Compression } from "./saveOptions.js";

/** How arrays are written. */
export interface ArrayWriting {
  readonly compression: Compression;
  /** Most bytes of a chunk, of a piece and of a staging buffer. */
  readonly longestChunk: number;
  readonly longestPiece: number;
  progress(array: PlannedArray): LeafProgress;
}

/** An array with the layout of its chunks. */
export interface EncodedLeaf {
  readonly array: PlannedArray;
  readonly encoded: EncodedArray;
}

/** Lays out the chunks of arrays. */
export const encodeLeaves = (arrays: readonly PlannedArray[], { compression, longestChunk }: ArrayWriting): EncodedLeaf[] =>
  arrays.map((array) => ({ array, encoded: encodeArray(array.name, array.leaf, { compression, longestChunk }) }));

/**
 * What a database has to hold of arrays: metadata and chunks, read from memory or from their devices piece by piece as they are asked for.
 * Each value has to be taken whole before the next one.
 */
export async function* arrayEntries(
  leaves: readonly EncodedLeaf[],
  writing: ArrayWriting,
  context: TaskContext,
): AsyncGenerator<OcdbtEntry> {
  for (const { encoded } of leaves) yield { key: encoded.metadata.key, value: new TextEncoder().encode(encoded.metadata.text) };
  for (const [device, onDevice] of groupsOf(leaves)) {
    const pieces = device === undefined ? memoryPieces(onDevice, writing) : devicePieces(device, onDevice, writing, context);
    try {
      const chunks = chunksOf(onDevice, pieces, writing, context);
      yield* writing.compression === "none" ? chunks : workAhead(gatheredOf(chunks), mostEncoders, (chunk) => compressed(chunk, context));
    } finally {
      await pieces.return?.(undefined);
    }
  }
}

/** Leaves by the device that holds them. */
function groupsOf(leaves: readonly EncodedLeaf[]): Map<GPUDevice | undefined, EncodedLeaf[]> {
  const groups = new Map<GPUDevice | undefined, EncodedLeaf[]>();
  for (const leaf of leaves) {
    const { source } = leaf.array.leaf;
    const device = source instanceof Uint8Array ? undefined : source.device;
    const group = groups.get(device) ?? [];
    groups.set(device, group);
    group.push(leaf);
  }
  return groups;
}

/** Pieces of all chunks of the leaves, in their order; one is valid until the next is asked for. */
type Pieces = AsyncIterator<Uint8Array> | Iterator<Uint8Array>;

function* piecesOf(chunk: EncodedChunk, longest: number): Generator<{ readonly offset: number; readonly length: number }> {
  const { offset, length } = chunk.range;
  for (let at = 0; at < length; at += longest) yield { offset: offset + at, length: Math.min(longest, length - at) };
}

function* memoryPieces(leaves: readonly EncodedLeaf[], { longestPiece }: ArrayWriting): Generator<Uint8Array> {
  for (const { array, encoded } of leaves) {
    const { source } = array.leaf;
    if (!(source instanceof Uint8Array)) continue;
    for (const chunk of encoded.chunks()) {
      for (const { offset, length } of piecesOf(chunk, longestPiece)) yield unshared(source.subarray(offset, offset + length));
    }
  }
}

/** Files take no shared memory. */
const unshared = (bytes: Uint8Array): Uint8Array =>
  typeof SharedArrayBuffer !== "undefined" && bytes.buffer instanceof SharedArrayBuffer ? new Uint8Array(bytes) : bytes;

function devicePieces(device: GPUDevice, leaves: readonly EncodedLeaf[], { longestPiece }: ArrayWriting, context: TaskContext) {
  return readBackPieces(device, bufferPieces(leaves, longestPiece), longestPiece, context);
}

function* bufferPieces(leaves: readonly EncodedLeaf[], longest: number): Generator<BufferPiece> {
  for (const { array, encoded } of leaves) {
    const { source } = array.leaf;
    if (source instanceof Uint8Array) continue;
    for (const chunk of encoded.chunks()) {
      for (const piece of piecesOf(chunk, longest)) yield { ...piece, buffer: source.buffer, leaf: array.label };
    }
  }
}

/** A chunk whose bytes come from the pieces. */
interface ChunkEntry {
  readonly key: string;
  readonly value: StreamedValue;
}

async function* chunksOf(
  leaves: readonly EncodedLeaf[],
  pieces: Pieces,
  writing: ArrayWriting,
  { signal }: TaskContext,
): AsyncGenerator<ChunkEntry> {
  const pace = new Pace(signal);
  for (const leaf of leaves) {
    const progress = writing.progress(leaf.array);
    for (const chunk of leaf.encoded.chunks()) {
      if (pace.due) await pace.rest();
      const value = { byteLength: leaf.encoded.chunkByteLength, pieces: chunkPieces(leaf, chunk, pieces, progress, writing) };
      yield { key: chunk.key, value };
    }
    progress.finish();
  }
}

async function* gatheredOf(chunks: AsyncIterable<ChunkEntry>) {
  for await (const { key, value } of chunks) yield { key, bytes: await gathered(value) };
}

const compressed = async ({ key, bytes }: { readonly key: string; readonly bytes: Uint8Array<ArrayBuffer> }, context: TaskContext) => ({
  key,
  value: await encodeZstd(bytes, context),
});

async function* chunkPieces(
  { array }: EncodedLeaf,
  chunk: EncodedChunk,
  pieces: Pieces,
  progress: LeafProgress,
  { longestPiece }: ArrayWriting,
): AsyncGenerator<Uint8Array> {
  for (const { length } of piecesOf(chunk, longestPiece)) {
    const { value, done } = await pieces.next();
    if (done === true || value.length !== length) throw new RangeError(`a piece of ${length} bytes is missing`);
    yield writeElements(value, array.leaf.dtype);
    progress.add(length);
  }
  for (let left = chunk.paddingBytes; left > 0; left -= longestPiece) yield new Uint8Array(Math.min(left, longestPiece));
}

async function gathered({ byteLength, pieces }: StreamedValue): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(byteLength);
  let length = 0;
  for await (const piece of pieces) {
    bytes.set(piece, length);
    length += piece.length;
  }
  return bytes;
}
