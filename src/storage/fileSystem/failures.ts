import { StorageError } from "../../errors.js";

const nameOf = (cause: unknown): string => (cause instanceof Error || cause instanceof DOMException ? cause.name : "an unknown error");

/** True where there is no such entry: nothing of that name, a file in a folder's place or the reverse. */
export const isAbsence = (cause: unknown): boolean => ["NotFoundError", "TypeMismatchError"].includes(nameOf(cause));

const advice: Readonly<Record<string, string>> = {
  NotAllowedError: "the page may not read the folder: ask for it with the handle's requestPermission() on a click",
  NoModificationAllowedError: "another page or worker has the file open: wait until it has closed it",
  SecurityError: "the page may not read it: open it in an ordinary window, and not in a sandboxed frame",
};

/** The error for anything else that the browser's file system refused; `cause` has its own one. */
export function fileSystemError(path: string, cause: unknown): StorageError {
  const name = nameOf(cause);
  const message = `the browser's file system answered ${name}; ${advice[name] ?? "check that the disk has no faults, and try again"}`;
  return new StorageError({ path, reason: "io", message, cause });
}

/** The error for a file that is no longer the one that was opened. */
export function changedError(path: string, how: string, cause?: unknown): StorageError {
  const message = `the file changed since it was opened (${how}); open the checkpoint again, and do not replace files that are being read`;
  return new StorageError({ path, reason: "changed", message, cause });
}
