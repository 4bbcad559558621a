import { dtypes } from "../arrays/dtypes.js";
import type { Codec } from "../codecs/codec.js";
import { codecNamed } from "../codecs/registry.js";
import { CorruptCheckpointError, UnsupportedCheckpointError } from "../errors.js";
import type { TaskContext } from "../tasks/context.js";
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
  const decoded = await codecOf(array).decode(bytes, requestOf(byteLength, place), context);
  checkLength(decoded.length, byteLength, place);
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
  const decoded = codecOf(array).stream(pieces, requestOf(chunkByteLength, place), context);
  let length = 0;
  for await (const piece of wholeElements(decoded, dtypes[spec.dtype].itemsize)) {
    length += piece.length;
    if (length > chunkByteLength) break;
    yield readElements(piece, spec.dtype, stored.byteOrder, place);
  }
  checkLength(length, chunkByteLength, place);
}

function codecOf({ codec, name }: ZarrArray): Codec {
  const found = codecNamed(codec);
  if (found === undefined) throw new UnsupportedCheckpointError(`${name}: compressor ${JSON.stringify(codec)} is not read`);
  return found;
}

const requestOf = (byteLength: number, { path, offset }: ChunkPlace) => ({
  decodedLength: byteLength,
  longestDecoded: byteLength,
  path,
  offset,
});

// The codecs check this themselves; a chunk of another length would end up in its neighbours, so it is checked here too.
function checkLength(received: number, expected: number, place: ChunkPlace): void {
  if (received === expected) return;
  throw new CorruptCheckpointError({ ...place, expected: `a chunk of ${expected} bytes, decoded`, received: `${received}` });
}
