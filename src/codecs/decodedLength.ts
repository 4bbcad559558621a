import { CorruptCheckpointError } from "../errors.js";
import type { TaskContext } from "../tasks/context.js";
import type { DecodeRequest } from "./codec.js";

/** Most bytes of one piece that a codec's `stream` gives. */
export const longestPiece = 1024 * 1024;

/** Most bytes that the decoded value may have. */
export const allowedLength = ({ decodedLength, longestDecoded }: DecodeRequest): number =>
  Math.min(decodedLength ?? longestDecoded, longestDecoded);

/** The error for a value that does not decode as asked. */
export const undecodable = ({ path, offset }: DecodeRequest, expected: string, received: string, cause?: unknown): CorruptCheckpointError =>
  new CorruptCheckpointError({ path, offset, expected, received, cause });

/** Throws where the whole decoded value has another length than asked for, or may have. */
export function checkLength(codec: string, received: number, request: DecodeRequest): void {
  const { decodedLength } = request;
  if (decodedLength !== undefined && received !== decodedLength) throw wrongLength(codec, `${decodedLength}`, `${received}`, request);
  if (received > request.longestDecoded) throw tooLong(codec, `${received} bytes`, request);
}

/** The error for a value that decodes, or says it does, to more bytes than allowed. */
export const tooLong = (codec: string, received: string, request: DecodeRequest): CorruptCheckpointError =>
  wrongLength(
    codec,
    request.decodedLength === undefined ? `at most ${request.longestDecoded}` : `${request.decodedLength}`,
    received,
    request,
  );

const wrongLength = (codec: string, expected: string, received: string, request: DecodeRequest) =>
  undecodable(request, `${expected} bytes after decoding ${codec}`, received);

/**
 * Passes decoded pieces on, cut to {@link longestPiece}, and stops at the first byte too many, at the end for a byte too few,
 * and between two pieces on abort.
 */
export async function* withinLength(
  codec: string,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  request: DecodeRequest,
  { signal }: TaskContext = {},
): AsyncGenerator<Uint8Array> {
  const allowed = allowedLength(request);
  let length = 0;
  for await (const piece of pieces) {
    signal?.throwIfAborted();
    length += piece.length;
    if (length > allowed) throw tooLong(codec, `${length} or more`, request);
    yield* cut(piece, longestPiece);
  }
  signal?.throwIfAborted();
  checkLength(codec, length, request);
}

/** Cuts bytes into views of at most `longest` bytes. */
export function* cut(bytes: Uint8Array, longest: number): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += longest) yield bytes.subarray(start, start + longest);
}

/**
 * Joins pieces that {@link withinLength} lets through into one value. Where no length is known, the memory grows with what
 * really arrives, whatever a header declares.
 */
export async function joined(pieces: AsyncIterable<Uint8Array>, { decodedLength }: DecodeRequest): Promise<Uint8Array> {
  if (decodedLength !== undefined) return filled(new Uint8Array(decodedLength), pieces);
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const piece of pieces) {
    parts.push(piece.slice()); // a piece may be reused
    length += piece.length;
  }
  return filled(new Uint8Array(length), parts);
}

async function filled(target: Uint8Array, pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Uint8Array> {
  let offset = 0;
  for await (const piece of pieces) {
    target.set(piece, offset);
    offset += piece.length;
  }
  return target;
}

/** A whole value as a stream of one piece. */
export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
