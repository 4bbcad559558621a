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

/** Where a data file of a record's table lies. */
type DataTarget = Pick<DataLocation, "path" | "transitivePath">;

/** Paths that were put together and checked already, by record and index in its table: thousands of values lie in one file. */
const knownTargets = new WeakMap<RecordOrigin, (DataTarget | undefined)[]>();

/**
 * Finds what a record refers to.
 * @throws CorruptCheckpointError for a path that leaves the folder, or bytes beyond 2^53, which no file has.
 */
export function locateData(origin: RecordOrigin, { fileId, offset, length }: IndirectReference): DataLocation {
  const { path, transitivePath } = targetOf(origin, fileId);
  const range = { offset: Number(offset), length: Number(length) };
  if (range.offset + range.length <= Number.MAX_SAFE_INTEGER) return { path, range, transitivePath };
  throw new CorruptCheckpointError({
    path: origin.path,
    offset: origin.offset,
    expected: "bytes that end below 2^53",
    received: `offset ${offset}, length ${length} in ${path}`,
  });
}

function targetOf(origin: RecordOrigin, fileId: number): DataTarget {
  const targets = knownTargets.get(origin) ?? [];
  knownTargets.set(origin, targets);
  const target = targets[fileId] ?? newTarget(origin, fileId);
  targets[fileId] = target;
  return target;
}

function newTarget({ path, offset, transitivePath, files }: RecordOrigin, fileId: number): DataTarget {
  const { basePath, relativePath } = files[fileId] ?? { basePath: "", relativePath: "" };
  const target = transitivePath + basePath + relativePath;
  if (target.length <= longestPath && isInside(target)) return { path: target, transitivePath: transitivePath + basePath };
  const expected = "a data file inside the database's folder";
  throw new CorruptCheckpointError({ path, offset, expected, received: JSON.stringify(target.slice(0, 1000)) });
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
