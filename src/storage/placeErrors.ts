import { StorageError } from "../errors.js";

/** The error for a file that cannot be moved, since there is none. */
export const noFileToMove = (path: string): StorageError =>
  new StorageError({ path, reason: "io", message: "there is no such file to move; another program may have removed it" });

/** The error for a file that would have to stand where a folder is, or below another file. */
export const placeTaken = (path: string, cause?: unknown): StorageError =>
  new StorageError({
    path,
    reason: "io",
    message: "no file can be put there: a folder of that name, or a file in place of its folder, is there; remove it, or write elsewhere",
    cause,
  });
