import { type ByteRange, endOf } from "../bytes/ranges.js";
import { CorruptCheckpointError, isCheckpointError } from "../errors.js";
import type { ReadableStorage } from "../storage/storage.js";
import { streamRange } from "../storage/streamRange.js";
import type { TaskContext } from "../tasks/context.js";
import { type DataFile, isInside, longestPath } from "./format/dataFileTable.js";
import type { IndirectReference } from "./format/indirectReference.js";

/** Where a record was read from, and what its table's paths are relative to. */
export interface RecordOrigin {
  readonly path: string;
  readonly offset: number;
  /** Base paths on the way to the record, joined: the table's paths begin behind it. */
  readonly transitivePath: string;
  readonly files: readonly DataFile[];
}

/** A run of bytes of a data file, within the database's folder. */
export interface DataLocation {
  readonly path: string;
  readonly range: ByteRange;
  /** What the tables of records in this file are relative to. */
  readonly transitivePath: string;
}

/**
 * Finds what a record refers to.
 * @throws CorruptCheckpointError for a path that leaves the folder, or bytes beyond 2^53, which no file has.
 */
export function locateData({ path, offset, transitivePath, files }: RecordOrigin, reference: IndirectReference): DataLocation {
  const { basePath, relativePath } = files[reference.fileId] ?? { basePath: "", relativePath: "" };
  const target = transitivePath + basePath + relativePath;
  const corrupt = (expected: string, received: string) => new CorruptCheckpointError({ path, offset, expected, received });
  if (target.length > longestPath || !isInside(target)) {
    throw corrupt("a data file inside the database's folder", JSON.stringify(target.slice(0, 1000)));
  }
  if (reference.offset + reference.length > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw corrupt("bytes that end below 2^53", `offset ${reference.offset}, length ${reference.length} in ${target}`);
  }
  const range = { offset: Number(reference.offset), length: Number(reference.length) };
  return { path: target, range, transitivePath: transitivePath + basePath };
}

/**
 * Reads bytes that the index says are there.
 * @throws CorruptCheckpointError where the file is missing or shorter; StorageError where the place fails.
 */
export async function readData(
  storage: ReadableStorage,
  path: string,
  range: ByteRange,
  { signal }: TaskContext = {},
): Promise<Uint8Array> {
  const bytes = await storage.read(path, { range, signal }).catch((cause: unknown) => {
    throw asCorruption(path, range, cause);
  });
  if (bytes === undefined) throw missingFile(path, range);
  if (bytes.length !== range.length) throw shortFile(path, range, `${bytes.length} bytes`);
  return bytes;
}

/** The same in pieces. */
export async function* streamData(
  storage: ReadableStorage,
  path: string,
  range: ByteRange,
  context: TaskContext = {},
): AsyncGenerator<Uint8Array> {
  let length = 0;
  try {
    for await (const piece of streamRange(storage, path, range, context)) {
      length += piece.length;
      yield piece;
    }
  } catch (cause) {
    throw asCorruption(path, range, cause);
  }
  if (length !== range.length) throw shortFile(path, range, `${length} bytes`);
}

/** A file that is too short, or an answer that is, breaks the database, not the place where it lies; other errors stay what they are. */
function asCorruption(path: string, range: ByteRange, cause: unknown): unknown {
  const isShort = isCheckpointError(cause, "Storage") && cause.reason === "length";
  return isShort ? shortFile(path, range, `another number of them (${cause.message})`, cause) : cause;
}

const shortFile = (path: string, range: ByteRange, received: string, cause?: unknown) =>
  new CorruptCheckpointError({
    path,
    offset: range.offset,
    expected: `bytes ${range.offset} to ${endOf(range)}, as the index says`,
    received,
    cause,
  });

const missingFile = (path: string, range: ByteRange) =>
  new CorruptCheckpointError({
    path,
    offset: range.offset,
    expected: "the data file that the index refers to (d/ and every ocdbt.process_*/d/ belong to the checkpoint)",
    received: "no such file",
  });
