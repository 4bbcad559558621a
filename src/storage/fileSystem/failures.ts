import { StorageError, type StorageErrorReason } from "../../errors.js";
import { placeTaken } from "../placeErrors.js";
import { noRoomError } from "../room.js";

/** What a browser calls its error. */
export const nameOf = (cause: unknown): string =>
  cause instanceof Error || cause instanceof DOMException ? cause.name : "an unknown error";

/** True where there is no such entry: nothing of that name, a file in a folder's place or the reverse. */
export const isAbsence = (cause: unknown): boolean => ["NotFoundError", "TypeMismatchError"].includes(nameOf(cause));

const known: Readonly<Record<string, readonly [StorageErrorReason, string]>> = {
  NotAllowedError: ["permission", "the page may not use the folder: ask for it with the handle's requestPermission() on a click"],
  NoModificationAllowedError: [
    "busy",
    "another page or worker has the file open, such as a restore that reads it: wait until it has closed it",
  ],
  SecurityError: ["io", "the page may not use it: open it in an ordinary window, and not in a sandboxed frame"],
};

/** The error for anything else that the browser's file system refused; `cause` has its own one. */
export function fileSystemError(path: string, cause: unknown): StorageError {
  const name = nameOf(cause);
  const [reason, advice] = known[name] ?? ["io", "check that the disk has no faults, and try again"];
  return new StorageError({ path, reason, message: `the browser's file system answered ${name}; ${advice}`, cause });
}

/** The error for a change that was refused: `byteLength` bytes were to be written. Those of this package pass as they are. */
export async function changeFailure(path: string, cause: unknown, byteLength?: number): Promise<Error> {
  if (cause instanceof StorageError) return cause;
  switch (nameOf(cause)) {
    case "QuotaExceededError":
      return noRoomError(path, byteLength, cause);
    case "TypeMismatchError":
    case "InvalidModificationError":
      return placeTaken(path, cause);
    case "TypeError":
      return new StorageError({ path, reason: "io", message: "the browser takes no such name for a file; use another one", cause });
    default:
      return fileSystemError(path, cause);
  }
}

/** The error for a file that is no longer the one that was opened. */
export function changedError(path: string, how: string, cause?: unknown): StorageError {
  const message = `the file changed since it was opened (${how}); open the checkpoint again, and do not replace files that are being read`;
  return new StorageError({ path, reason: "changed", message, cause });
}
