import type { TaskContext } from "../tasks/context.js";
import type { Codec, DecodeRequest } from "./codec.js";
import { allowedLength, checkLength, joined, once, tooLong, undecodable, withinLength } from "./decodedLength.js";
import { type Libzstd, loadLibzstd } from "./libzstd.js";
import { streamByFzstd } from "./streamByFzstd.js";
import { streamByLibzstd } from "./streamByLibzstd.js";
import { ZstdFrameScanner } from "./zstdScan.js";
import { ZstdDamage, type ZstdStream } from "./zstdStream.js";

/** Most bytes, compressed and decoded, of a value that is decoded in one go: WebAssembly memory never shrinks again. */
const largestWhole = 16 * 1024 * 1024;

/**
 * zstd (RFC 8878): exactly one frame, without dictionary, as TensorStore takes it. Decoded lengths are always checked; a
 * content checksum, which Orbax does not write, is verified by libzstd but not by the fallback without WebAssembly.
 */
export const zstd: Codec = { name: "zstd", decode, stream };

async function decode(bytes: Uint8Array, request: DecodeRequest, context: TaskContext = {}): Promise<Uint8Array> {
  const longest = longestDecoded(bytes, request);
  const libzstd = bytes.length + longest <= largestWhole ? await loadLibzstd() : undefined;
  context.signal?.throwIfAborted();
  if (libzstd === undefined) return joined(stream(once(bytes), request, context), request);
  // zstddec guesses the size where it is told 0, and answers a damaged frame with no bytes.
  const decoded = libzstd.decode(bytes, Math.max(longest, 1));
  if (decoded.length === 0 && longest > 0) throw undecodable(request, "a zstd frame", "a frame that does not decode");
  checkLength("zstd", decoded.length, request);
  return decoded;
}

/** Most bytes that the frame can decode to, within what is allowed: nothing larger is ever allocated. */
function longestDecoded(bytes: Uint8Array, request: DecodeRequest): number {
  const allowed = allowedLength(request);
  const scanner = new ZstdFrameScanner(request, allowed);
  for (const _part of scanner.push(bytes)) checkScan(scanner, request);
  scanner.finish();
  return scanner.header?.contentSize ?? Math.min(scanner.longest, allowed);
}

/** Throws as soon as the headers tell that the frame decodes to another length than asked for. */
function checkScan({ header, shortest }: ZstdFrameScanner, request: DecodeRequest): void {
  if (header?.contentSize !== undefined) checkLength("zstd", header.contentSize, request);
  if (shortest > allowedLength(request)) throw tooLong("zstd", `${shortest} or more`, request);
}

function stream(pieces: AsyncIterable<Uint8Array>, request: DecodeRequest, context: TaskContext = {}): AsyncIterable<Uint8Array> {
  return withinLength("zstd", decodePieces(pieces, request), request, context);
}

const streamBy = (libzstd: Libzstd | undefined): ZstdStream =>
  libzstd?.functions === undefined ? streamByFzstd : streamByLibzstd.bind(undefined, libzstd.functions);

async function* decodePieces(pieces: AsyncIterable<Uint8Array>, request: DecodeRequest): AsyncGenerator<Uint8Array> {
  const scanner = new ZstdFrameScanner(request, allowedLength(request));
  const decodeParts = streamBy(await loadLibzstd());
  try {
    yield* decodeParts(scanned(pieces, scanner, request));
  } catch (cause) {
    if (cause instanceof ZstdDamage) throw undecodable(request, "a zstd frame", cause.message, cause);
    throw cause;
  }
}

async function* scanned(pieces: AsyncIterable<Uint8Array>, scanner: ZstdFrameScanner, request: DecodeRequest): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    for (const part of scanner.push(piece)) {
      checkScan(scanner, request);
      yield part;
    }
  }
  scanner.finish();
}
