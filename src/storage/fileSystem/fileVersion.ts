import { changedError, fileSystemError, isAbsence } from "./failures.js";

/** What tells a file's versions apart; plain data, so that a worker can be told which one is meant. */
export interface FileVersion {
  readonly byteLength: number;
  /** In milliseconds, as `File.lastModified`. */
  readonly lastModified: number;
}

// A handle was looked at when it was found; each further look at it takes milliseconds.
const seen = new WeakMap<FileSystemFileHandle, FileVersion>();

/** Notes the version that a file had when its handle was found. */
export const noteVersion = (handle: FileSystemFileHandle, version: FileVersion): void => void seen.set(handle, version);

/** The version that was noted last. */
export const notedVersion = (handle: FileSystemFileHandle): FileVersion | undefined => seen.get(handle);

/** The version that a File shows, which stands for the file as it was when the File was made. */
export const versionOf = ({ size, lastModified }: File): FileVersion => ({ byteLength: size, lastModified });

/** @throws StorageError `"changed"` where a file has another version than it should. */
export function requireVersion(path: string, version: FileVersion, expected: FileVersion): void {
  const how = differenceOf(expected, version);
  if (how !== undefined) throw changedError(path, how);
}

function differenceOf(first: FileVersion, second: FileVersion): string | undefined {
  if (first.byteLength !== second.byteLength) return `${first.byteLength} bytes, then ${second.byteLength}`;
  if (first.lastModified === second.lastModified) return undefined;
  return `written at ${textOf(first.lastModified)}, then at ${textOf(second.lastModified)}`;
}

const textOf = (time: number) => new Date(time).toISOString();

/**
 * The error for bytes that could not be read: browsers refuse them where the file has changed, and call the reason NotReadableError,
 * NotFoundError or, in a stream, only "network error".
 */
export async function readFailure(path: string, handle: FileSystemFileHandle, opened: File, cause: unknown): Promise<Error> {
  try {
    const how = differenceOf(versionOf(opened), versionOf(await handle.getFile()));
    return how === undefined ? fileSystemError(path, cause) : changedError(path, how, cause);
  } catch (reason) {
    return isAbsence(reason) ? changedError(path, "it is gone", cause) : fileSystemError(path, reason);
  }
}
