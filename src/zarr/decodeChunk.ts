import { dtypes } from "../arrays/dtypes.js";
import { CorruptCheckpointError } from "../errors.js";
import type { TaskContext } from "../tasks/context.js";
import { decompress, requireCodec } from "./decompress.js";
import { type ChunkPlace, readElements } from "./elements.js";
import type { ZarrArray } from "./openArray.js";
import { wholeElements } from "./wholeElements.js";

/**
 * Decodes a chunk that is in memory to its elements in C order, `byteLength` bytes.
 * @throws CorruptCheckpointError for bytes that do not decode to exactly that length.
 */
export async function decodeChunk(
  array: ZarrArray,
  bytes: Uint8Array,
  byteLength: number,
  place: ChunkPlace,
  context: TaskContext,
): Promise<Uint8Array> {
  const { spec, stored } = array;
  const length = { exact: byteLength, longest: longestBetween(byteLength) };
  const decoded = await decompress(stored.compression, bytes, length, place, context);
  const ordered = stored.toRowMajor === undefined ? decoded : await stored.toRowMajor(decoded);
  return readElements(ordered, spec.dtype, stored.byteOrder, place);
}

/**
 * Decodes a chunk that comes in pieces, into pieces of whole elements in C order; for streamable arrays.
 * @throws CorruptCheckpointError for bytes that do not decode to exactly the chunk's length.
 */
export async function* decodeChunkStream(
  array: ZarrArray,
  pieces: AsyncIterable<Uint8Array>,
  place: ChunkPlace,
  context: TaskContext,
): AsyncGenerator<Uint8Array> {
  const { spec, stored, chunkByteLength } = array;
  const request = { ...place, decodedLength: chunkByteLength, longestDecoded: chunkByteLength };
  const decoded = requireCodec(array.codec, place).stream(pieces, request, context);
  let length = 0;
  for await (const piece of wholeElements(decoded, dtypes[spec.dtype].itemsize)) {
    length += piece.length;
    if (length > chunkByteLength) break;
    yield readElements(piece, spec.dtype, stored.byteOrder, place);
  }
  checkLength(length, chunkByteLength, place);
}

/** Most bytes of a chunk between two compressors: what does not compress takes little more than its own bytes. */
const longestBetween = (byteLength: number): number => 2 * byteLength + 64 * 1024;

// As `decompress` does.
function checkLength(received: number, expected: number, place: ChunkPlace): void {
  if (received === expected) return;
  throw new CorruptCheckpointError({ ...place, expected: `a chunk of ${expected} bytes, decoded`, received: `${received}` });
}
