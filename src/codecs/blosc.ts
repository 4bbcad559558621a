import type { TaskContext } from "../tasks/context.js";
import type { Codec, DecodeRequest } from "./codec.js";
import { allowedLength, checkLength, cut, longestPiece, tooLong, undecodable } from "./decodedLength.js";

/** Blosc 1, with any of its compressors; numcodecs' build (about 200 KB gzipped) is loaded on first use. It has no checksum. */
export const blosc: Codec = {
  name: "blosc",
  decode,
  async *stream(pieces, request, context = {}) {
    const bytes = await collected(pieces, request, context);
    yield* cut(await decode(bytes, request, context), longestPiece);
  },
};

const headerBytes = 16;

async function decode(bytes: Uint8Array, request: DecodeRequest, { signal }: TaskContext = {}): Promise<Uint8Array> {
  const stored = storedLengths(bytes, request);
  if (stored.compressed !== bytes.length) throw undecodable(request, `${stored.compressed} bytes of blosc`, `${bytes.length}`);
  checkLength("blosc", stored.decoded, request);
  const { default: Blosc } = await import("numcodecs/blosc");
  signal?.throwIfAborted();
  const decoder = Blosc.fromConfig({ id: "blosc" });
  const decoded = await Promise.resolve(decoder.decode(bytes)).catch((cause: unknown) => {
    throw undecodable(request, "a blosc value", "bytes that do not decode", cause);
  });
  if (decoded.length !== stored.decoded) throw undecodable(request, `${stored.decoded} bytes after decoding blosc`, `${decoded.length}`);
  return decoded;
}

/** The lengths that the header tells (README_HEADER.rst of c-blosc): version, version of the compressor, flags, type size, nbytes, blocksize, cbytes. */
function storedLengths(bytes: Uint8Array, request: DecodeRequest): { readonly decoded: number; readonly compressed: number } {
  if (bytes.length < headerBytes) throw undecodable(request, `a blosc header of ${headerBytes} bytes`, `${bytes.length} bytes`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { decoded: view.getUint32(4, true), compressed: view.getUint32(12, true) };
}

/** All pieces: blosc's blocks are found through a table, so it cannot be decoded as it comes. */
async function collected(pieces: AsyncIterable<Uint8Array>, request: DecodeRequest, { signal }: TaskContext): Promise<Uint8Array> {
  const most = allowedLength(request) + headerBytes; // blosc stores what it cannot compress
  let bytes = new Uint8Array(0);
  let length = 0;
  for await (const piece of pieces) {
    signal?.throwIfAborted();
    if (length + piece.length > most) throw tooLong("blosc", `${length + piece.length} compressed bytes or more`, request);
    if (length + piece.length > bytes.length) bytes = grown(bytes, Math.min(most, Math.max(2 * bytes.length, length + piece.length)));
    bytes.set(piece, length);
    length += piece.length;
  }
  return bytes.subarray(0, length);
}

function grown(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(length);
  larger.set(bytes);
  return larger;
}
