import type { ByteRange } from "../bytes/ranges.js";
import { CorruptCheckpointError, isCheckpointError } from "../errors.js";
import type { TaskContext } from "../tasks/context.js";
import type { ReadableStorage } from "./storage.js";

/** Longest piece of a storage that cannot stream by itself, in bytes. */
export const streamPieceLength = 1024 * 1024;

/**
 * The bytes of a range in pieces, in order, together exactly `range.length` long; a piece is the caller's only until the next one is asked for.
 * @throws CorruptCheckpointError where there is no such file, StorageError where the place fails or the range reaches past the file's end.
 */
export function streamRange(storage: ReadableStorage, path: string, range: ByteRange, ctx: TaskContext = {}): AsyncIterable<Uint8Array> {
  return storage.stream?.(path, range, ctx) ?? readInPieces(storage, path, range, ctx);
}

async function* readInPieces(storage: ReadableStorage, path: string, range: ByteRange, { signal }: TaskContext): AsyncIterable<Uint8Array> {
  for (let done = 0; done < range.length; ) {
    const length = Math.min(streamPieceLength, range.length - done);
    const piece = await storage.read(path, { range: { offset: range.offset + done, length }, signal });
    if (piece === undefined) throw absentFileError(path, range);
    yield piece;
    done += length;
  }
}

/** Bytes that are there already, in pieces of the usual length. */
export function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += streamPieceLength) yield bytes.subarray(at, at + streamPieceLength);
}

/** The error of a stream over a file that is not there. */
export function absentFileError(path: string, range: ByteRange): CorruptCheckpointError {
  return new CorruptCheckpointError({
    path,
    offset: range.offset,
    expected: `a file with ${range.length} bytes there`,
    received: noSuchFile,
  });
}

const noSuchFile = "no such file";

/** Whether a file was missing that an index names: it was lost, or removed since the index was read. */
export const isAbsentFile = (error: unknown): boolean => isCheckpointError(error, "Corrupt") && error.received === noSuchFile;
