import type { CorruptCheckpointError } from "../errors.js";
import type { TaskContext } from "../tasks/context.js";
import type { Codec, DecodeRequest } from "./codec.js";
import { allowedLength, checkLength, joined, once, tooLong, undecodable, withinLength } from "./decodedLength.js";
import { ZstdDamage } from "./zstd/damage.js";
import type { ZstdDecoder } from "./zstd/decoder.js";
import { ZstdFrameScanner } from "./zstd/frameScanner.js";
import { giveBackDecoder, takeDecoder } from "./zstd/idleDecoders.js";

/**
 * zstd (RFC 8878): exactly one frame, without dictionary, as TensorStore takes it. Decoded lengths are always checked; a
 * content checksum, which Orbax does not write, is verified by libzstd but not by the fallback without WebAssembly.
 */
export const zstd: Codec = { name: "zstd", decode, stream };

/** What a frame of known bytes can decode to at most is all that is ever allocated for it. */
async function decode(bytes: Uint8Array, request: DecodeRequest, context: TaskContext = {}): Promise<Uint8Array> {
  const longest = orCorrupt(request, () => longestDecoded(bytes, request));
  const decoder = await takeDecoder();
  context.signal?.throwIfAborted();
  if (decoder === undefined) return joined(stream(once(bytes), request, context), request);
  try {
    const into = new Uint8Array(longest);
    const length = orCorrupt(request, () => decoder.decodeFrame(bytes, into));
    checkLength("zstd", length, request);
    return into.subarray(0, length);
  } finally {
    giveBackDecoder(decoder);
  }
}

/** Most bytes that the frame can decode to, within what is allowed. */
function longestDecoded(bytes: Uint8Array, request: DecodeRequest): number {
  const allowed = allowedLength(request);
  const scanner = new ZstdFrameScanner(allowed);
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

async function* decodePieces(pieces: AsyncIterable<Uint8Array>, request: DecodeRequest): AsyncGenerator<Uint8Array> {
  const decoder = await takeDecoder();
  try {
    if (decoder === undefined) yield* (await import("./zstd/streamByFzstd.js")).streamByFzstd(scanned(pieces, request));
    else yield* decodeBy(decoder, pieces, request);
  } catch (error) {
    throw error instanceof ZstdDamage ? corruption(request, error) : error;
  } finally {
    if (decoder !== undefined) giveBackDecoder(decoder);
  }
}

async function* decodeBy(decoder: ZstdDecoder, pieces: AsyncIterable<Uint8Array>, request: DecodeRequest): AsyncGenerator<Uint8Array> {
  decoder.begin(request);
  for await (const piece of pieces) {
    for (let rest = piece; rest.length > 0; ) {
      const { input } = decoder;
      const part = rest.subarray(0, input.length);
      input.set(part);
      decoder.given(part.length);
      rest = rest.subarray(part.length);
      for (let decoded = decoder.next(); decoded !== undefined; decoded = decoder.next()) yield decoded;
      if (decoder.ended) decoder.finish();
    }
  }
  decoder.finish();
}

/** fzstd does not notice all that is wrong with a frame. */
async function* scanned(pieces: AsyncIterable<Uint8Array>, request: DecodeRequest): AsyncGenerator<Uint8Array> {
  const scanner = new ZstdFrameScanner(allowedLength(request));
  for await (const piece of pieces) {
    for (const part of scanner.push(piece)) {
      checkScan(scanner, request);
      yield part;
    }
  }
  scanner.finish();
}

function orCorrupt<Result>(request: DecodeRequest, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw error instanceof ZstdDamage ? corruption(request, error) : error;
  }
}

function corruption(request: DecodeRequest, damage: ZstdDamage): CorruptCheckpointError {
  const offset = request.offset === undefined ? undefined : request.offset + damage.at;
  return undecodable({ ...request, offset }, damage.expected, damage.message, damage);
}
