import type { TaskContext } from "../tasks/context.js";
import { decodeBlosclz } from "./blosc/blosclz.js";
import { decodeLz4 } from "./blosc/lz4.js";
import { decodeSnappy } from "./blosc/snappy.js";
import { unshuffleBits, unshuffleBytes } from "./blosc/unshuffle.js";
import type { Codec, DecodeRequest } from "./codec.js";
import { allowedLength, checkLength, cut, longestPiece, tooLong, undecodable } from "./decodedLength.js";
import { zlib } from "./deflate.js";
import { zstd } from "./zstd.js";

/** Blosc 1, with any of its compressors. It has no checksum of its own; what does not decode is told of. */
export const blosc: Codec = {
  name: "blosc",
  decode,
  async *stream(pieces, request, context = {}) {
    const bytes = await collected(pieces, request, context);
    yield* cut(await decode(bytes, request, context), longestPiece);
  },
};

/** Formats of compressors in the order of their numbers; a decoder fills all of `into`, and gives false or throws where it cannot. */
const compressors: readonly (((bytes: Uint8Array, into: Uint8Array, request: DecodeRequest) => boolean | Promise<boolean>) | undefined)[] =
  [
    decodeBlosclz,
    decodeLz4,
    decodeSnappy,
    (bytes, into, request) => decodeBy(zlib, bytes, into, request),
    (bytes, into, request) => decodeBy(zstd, bytes, into, request),
  ];

async function decodeBy(codec: Codec, bytes: Uint8Array, into: Uint8Array, request: DecodeRequest): Promise<boolean> {
  into.set(await codec.decode(bytes, { ...request, decodedLength: into.length, longestDecoded: into.length }));
  return true;
}

async function decode(bytes: Uint8Array, request: DecodeRequest, { signal }: TaskContext = {}): Promise<Uint8Array> {
  const header = headerOf(bytes, request);
  if (header.compressed !== bytes.length) throw undecodable(request, `${header.compressed} bytes of blosc`, `${bytes.length}`);
  checkLength("blosc", header.decoded, request);
  if (header.isStored) {
    if (bytes.length !== headerBytes + header.decoded) throw damaged(request);
    return bytes.slice(headerBytes);
  }
  const decoded = new Uint8Array(header.decoded);
  const blocks = Math.ceil(header.decoded / header.blockBytes);
  if (headerBytes + 4 * blocks > bytes.length) throw damaged(request);
  for (let block = 0; block < blocks; block++) {
    signal?.throwIfAborted();
    const into = decoded.subarray(block * header.blockBytes, (block + 1) * header.blockBytes);
    await decodeBlock(bytes, header.view.getUint32(headerBytes + 4 * block, true), into, header, request);
  }
  return decoded;
}

/** Decodes the block that begins at an offset, and puts its elements together again. */
async function decodeBlock(bytes: Uint8Array, offset: number, into: Uint8Array, header: Header, request: DecodeRequest): Promise<void> {
  const { flags, elementBytes, blockBytes, view } = header;
  const isShuffled = (flags & flagBits.bytes) !== 0 && elementBytes > 1;
  const areBitsShuffled = (flags & flagBits.bits) !== 0 && into.length >= elementBytes;
  const target = isShuffled || areBitsShuffled ? new Uint8Array(into.length) : into;
  // Each place of an element is compressed alone in blocks that are whole and not small; c-blosc before 1.11 did not say so.
  const mayBeSplit = (flags & flagBits.whole) === 0 && elementBytes <= mostParts && blockBytes / elementBytes >= shortestPart;
  const parts = mayBeSplit && into.length === blockBytes ? elementBytes : 1;
  const partBytes = into.length / parts;
  const decodePart = compressors[flags >> 5];
  if (!Number.isInteger(partBytes) || decodePart === undefined) throw damaged(request);
  let from = offset;
  for (let part = 0; part < parts; part++) {
    const length = from + 4 > bytes.length ? Number.NaN : view.getUint32(from, true);
    from += 4;
    if (!(length <= bytes.length - from)) throw damaged(request);
    const stored = bytes.subarray(from, from + length);
    const piece = target.subarray(part * partBytes, (part + 1) * partBytes);
    if (length === partBytes) piece.set(stored);
    else if (!(await decodePart(stored, piece, request))) throw damaged(request);
    from += length;
  }
  if (isShuffled) unshuffleBytes(target, into, elementBytes);
  else if (areBitsShuffled) unshuffleBits(target, into, elementBytes);
}

const damaged = (request: DecodeRequest) => undecodable(request, "a blosc value", "bytes that do not decode");

/** Bits of the header's flags; the upper three number the compressor. */
const flagBits = { bytes: 1, stored: 2, bits: 4, reserved: 8, whole: 16 } as const;

/** Limits of the parts of a block (`MAX_SPLITS` and `MIN_BUFFERSIZE` of c-blosc). */
const mostParts = 16;
const shortestPart = 128;

/** What the header tells (README_CHUNK_FORMAT.rst of c-blosc): version, version of the compressor, flags, type size, nbytes, blocksize, cbytes. */
interface Header {
  readonly view: DataView;
  readonly flags: number;
  readonly isStored: boolean;
  readonly elementBytes: number;
  readonly blockBytes: number;
  readonly decoded: number;
  readonly compressed: number;
}

const headerBytes = 16;

function headerOf(bytes: Uint8Array, request: DecodeRequest): Header {
  if (bytes.length < headerBytes) throw undecodable(request, `a blosc header of ${headerBytes} bytes`, `${bytes.length} bytes`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [version, compressorVersion, flags = 0, elementBytes = 0] = bytes;
  const header = { flags, elementBytes, decoded: view.getUint32(4, true), blockBytes: view.getUint32(8, true) };
  const isKnown = version === 2 && compressorVersion === 1 && (flags & flagBits.reserved) === 0;
  if (!isKnown || elementBytes === 0 || header.blockBytes === 0) throw undecodable(request, "a header of blosc 1", "another one");
  return { ...header, view, isStored: (flags & flagBits.stored) !== 0, compressed: view.getUint32(12, true) };
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
