import { type ByteRange, endOf } from "../bytes/ranges.js";
import { abortable, type TaskContext } from "../tasks/context.js";
import { blobPieces, readBlob } from "./fileSystem/blobBytes.js";
import { changedError } from "./fileSystem/failures.js";
import { type FileVersion, noteVersion, readFailure, requireVersion, versionOf } from "./fileSystem/fileVersion.js";
import { Handles, type OpenRoot, unlessAbsent } from "./fileSystem/handles.js";
import { fileTooLong, lengthError } from "./lengthError.js";
import { requirePath, requirePrefix, requireRange } from "./paths.js";
import type { ReadableStorage, ReadOptions, StorageListing } from "./storage.js";
import { absentFileError } from "./streamRange.js";

/** A storage over a folder of the browser's file system: one that it keeps for the origin, or that the user picked. */
export interface DirectoryReading extends Required<Omit<ReadableStorage, "facts">> {
  snapshot(): DirectoryReading;
}

/**
 * Reads the files of a folder, which is opened by the first call. A call sees the files as they are at that time;
 * within a snapshot a file that has changed is StorageError `"changed"`.
 */
export function directoryReading(name: string, openRoot: OpenRoot): DirectoryReading {
  const reading = (place: () => Place): DirectoryReading => ({
    name,
    read: async (path, options = {}) => abortable(read(place(), path, options), options),
    list: async (prefix, options = {}) => abortable(list(place(), prefix, options), options),
    size: async (path, options = {}) => abortable(sizeOf(place(), path, options), options),
    stream: (path, range, options = {}) => stream(place(), path, range, options),
    handle: async (path, options = {}) => abortable(handleOf(place(), path, options), options),
    snapshot: () => {
      const pinned = placeOf(openRoot, new Map());
      return reading(() => pinned);
    },
  });
  return reading(() => placeOf(openRoot));
}

/** Where a call looks. */
interface Place {
  readonly handles: Handles;
  /** The versions that a snapshot has seen; undefined where every call sees what is there. */
  readonly versions: Map<string, FileVersion> | undefined;
}

const placeOf = (openRoot: OpenRoot, versions?: Map<string, FileVersion>): Place => ({ handles: new Handles(openRoot), versions });

interface OpenedFile {
  readonly handle: FileSystemFileHandle;
  readonly file: File;
}

/** Opens a file as it is now, which must be as the snapshot saw it first. */
async function openFile({ handles, versions }: Place, path: string, { signal }: TaskContext): Promise<OpenedFile | undefined> {
  requirePath(path);
  signal?.throwIfAborted();
  const handle = await handles.file(path);
  const file = handle && (await unlessAbsent(path, handle.getFile()));
  const pinned = versions?.get(path);
  if (handle === undefined || file === undefined) {
    if (pinned !== undefined) throw changedError(path, "it is gone");
    return undefined;
  }
  if (pinned !== undefined) requireVersion(path, versionOf(file), pinned);
  versions?.set(path, versionOf(file));
  return { handle, file };
}

async function read(place: Place, path: string, { range, longest, signal }: ReadOptions): Promise<Uint8Array | undefined> {
  if (range !== undefined) requireRange(range);
  const opened = await openFile(place, path, { signal });
  if (opened === undefined) return undefined;
  const { handle, file } = opened;
  if (range === undefined && longest !== undefined && file.size > longest) throw fileTooLong(path, longest);
  const part = range === undefined ? file : partOf(path, file, range);
  try {
    return await readBlob(part);
  } catch (cause) {
    throw await readFailure(path, handle, file, cause);
  }
}

async function* stream(place: Place, path: string, range: ByteRange, ctx: TaskContext): AsyncIterable<Uint8Array> {
  requireRange(range);
  const opened = await abortable(openFile(place, path, ctx), ctx);
  if (opened === undefined) throw absentFileError(path, range);
  const { handle, file } = opened;
  const part = partOf(path, file, range);
  try {
    yield* blobPieces(part, ctx);
  } catch (cause) {
    ctx.signal?.throwIfAborted();
    throw await readFailure(path, handle, file, cause);
  }
}

/** @throws StorageError `"length"` */
function partOf(path: string, file: File, range: ByteRange): Blob {
  if (endOf(range) > file.size) throw lengthError(path, range, file.size);
  return file.slice(range.offset, endOf(range));
}

async function sizeOf(place: Place, path: string, ctx: TaskContext): Promise<number | undefined> {
  return (await openFile(place, path, ctx))?.file.size;
}

async function handleOf(place: Place, path: string, ctx: TaskContext): Promise<FileSystemFileHandle | undefined> {
  const opened = await openFile(place, path, ctx);
  if (opened !== undefined) noteVersion(opened.handle, versionOf(opened.file));
  return opened?.handle;
}

async function list({ handles }: Place, prefix: string, { signal }: TaskContext): Promise<StorageListing> {
  requirePrefix(prefix);
  signal?.throwIfAborted();
  const folder = await handles.folder(prefix.slice(0, -1));
  const entries = folder && (await unlessAbsent(prefix, entriesOf(folder)));
  const names = (kind: FileSystemHandleKind) => (entries ?? []).filter((entry) => entry.kind === kind).map(({ name }) => name);
  return { files: names("file").sort(), directories: names("directory").sort() };
}

async function entriesOf(folder: FileSystemDirectoryHandle): Promise<FileSystemHandle[]> {
  const entries: FileSystemHandle[] = [];
  for await (const entry of folder.values()) entries.push(entry);
  return entries;
}
