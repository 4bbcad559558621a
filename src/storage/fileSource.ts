import { type ByteRange, endOf } from "../bytes/ranges.js";
import type { ByteSource } from "../bytes/source.js";
import { readBlob } from "./fileSystem/blobBytes.js";
import { changedError, fileSystemError, isAbsence } from "./fileSystem/failures.js";
import { type FileVersion, notedVersion, readFailure, requireVersion, versionOf } from "./fileSystem/fileVersion.js";
import { lengthError } from "./lengthError.js";
import { requireRange } from "./paths.js";

/** A file that is read at first hand. */
export interface FileSource {
  /** Size of the file when it was opened, in bytes. */
  readonly byteLength: number;
  /**
   * Reads a range in order, and at most that. Its `read` throws StorageError `"changed"` where the file changed meanwhile.
   * @throws StorageError `"length"` where the range reaches past the file's end.
   */
  at(range: ByteRange): ByteSource;
  /** Lets go of the file: as long as it is open nobody can write to it. Further calls do nothing. */
  close(): void;
}

/** What the opener knows of the file. */
export interface FileSourceOptions {
  /** What errors call the file; its name unless given. */
  readonly path?: string | undefined;
  /** The version that it must have. */
  readonly version?: FileVersion | undefined;
}

/** The part of the platform's synchronous handle that reads. */
interface SyncHandle {
  read(into: Uint8Array, options: { readonly at: number }): number;
  getSize(): number;
  close(): void;
}

/** What TypeScript's types for pages lack, since only dedicated workers have it. */
interface SyncOpener {
  createSyncAccessHandle?(options: { readonly mode: "read-only" }): Promise<SyncHandle>;
}

/**
 * Opens a file to be read at first hand: in a dedicated worker by a synchronous handle straight into any memory, which keeps writers away
 * and lets other readers in; elsewhere, where the browser knows no such handles, and where a writer has the file open, by slices.
 * @throws StorageError `"changed"` where the file is gone or has another version than it should, `"io"` where the file system fails.
 */
export async function openFileSource(handle: FileSystemFileHandle, options: FileSourceOptions = {}): Promise<FileSource> {
  const { path = handle.name, version } = options;
  const sync = await openSyncHandle(handle);
  if (sync === undefined) return slicedSource(path, handle, await openFile(path, handle, version));
  try {
    // Only now, since the file can no longer change.
    if (version !== undefined) await openFile(path, handle, version);
    return syncSource(path, sync);
  } catch (error) {
    sync.close();
    throw error;
  }
}

/** The version that a file had when its storage gave the handle, or else has now. Throws as {@link openFileSource}. */
export const fileVersion = async (handle: FileSystemFileHandle, path: string): Promise<FileVersion> =>
  notedVersion(handle) ?? versionOf(await openFile(path, handle, undefined));

/** Whether a handle can be sent to a worker, which Safari refuses. */
export function isSendable(handle: FileSystemFileHandle): boolean {
  try {
    structuredClone(handle);
    return true;
  } catch {
    return false;
  }
}

/** Undefined where slices have to do; where they do neither, they say why. */
async function openSyncHandle(handle: FileSystemFileHandle & SyncOpener): Promise<SyncHandle | undefined> {
  const { FileSystemSyncAccessHandle } = globalThis as { readonly FileSystemSyncAccessHandle?: { readonly prototype: object } };
  // A browser without modes would take the file for itself alone, and lock out the other workers.
  if (FileSystemSyncAccessHandle === undefined || !("mode" in FileSystemSyncAccessHandle.prototype)) return undefined;
  return handle.createSyncAccessHandle?.({ mode: "read-only" }).catch(() => undefined);
}

async function openFile(path: string, handle: FileSystemFileHandle, version: FileVersion | undefined): Promise<File> {
  const file = await handle.getFile().catch((cause: unknown) => {
    throw isAbsence(cause) ? changedError(path, "it is gone", cause) : fileSystemError(path, cause);
  });
  if (version !== undefined) requireVersion(path, versionOf(file), version);
  return file;
}

function syncSource(path: string, handle: SyncHandle): FileSource {
  const size = handle.getSize();
  return {
    byteLength: size,
    at: (range) =>
      rangeSource(path, range, size, (into, at) => {
        try {
          return handle.read(into, { at });
        } catch (cause) {
          throw fileSystemError(path, cause);
        }
      }),
    close: () => handle.close(),
  };
}

/** Most bytes that are read at once where they come in memory of their own. */
const longestSlice = 4 * 1024 * 1024;

function slicedSource(path: string, handle: FileSystemFileHandle, file: File): FileSource {
  return {
    byteLength: file.size,
    at: (range) =>
      rangeSource(path, range, file.size, async (into, at) => {
        try {
          const bytes = await readBlob(file.slice(at, at + Math.min(into.byteLength, longestSlice)));
          into.set(bytes);
          return bytes.byteLength;
        } catch (cause) {
          throw await readFailure(path, handle, file, cause);
        }
      }),
    close: () => {},
  };
}

/** Puts bytes from a position on into memory, and says how many. */
type ReadAt = (into: Uint8Array, at: number) => number | Promise<number>;

/** Bytes of a range by calls that read at a position. */
function rangeSource(path: string, range: ByteRange, size: number, readAt: ReadAt): ByteSource {
  requireRange(range);
  if (endOf(range) > size) throw lengthError(path, range, size);
  let at = range.offset;
  const taken = (count: number): number => {
    if (count === 0) throw changedError(path, `${size} bytes, then ${at}`);
    at += count;
    return count;
  };
  return {
    read(into) {
      if (at === endOf(range)) return 0;
      const count = readAt(into.subarray(0, endOf(range) - at), at);
      return typeof count === "number" ? taken(count) : count.then(taken);
    },
  };
}
