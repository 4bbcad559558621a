import { anObject, aText, requireArgument } from "../arguments.js";
import type { ByteRange } from "../bytes/ranges.js";
import { CheckpointValueError } from "../errors.js";

/**
 * Checks a file's path: relative, parted by `/`, no empty part, no `.` and no `..`, so that no path leaves its storage.
 * @throws CheckpointValueError naming the path.
 */
export function requirePath(path: string): void {
  requireArgument("a path inside a storage", path, aText);
  if (!isPath(path)) throw new CheckpointValueError(`${JSON.stringify(path)} is not a path inside a storage; ${pathRule}`);
}

/** Whether a text is a file's path: see {@link requirePath}. */
export const isPath = (path: string): boolean => path.split("/").every(isPart);

/**
 * Checks what `list` takes: `""`, or a path and a `/`.
 * @throws CheckpointValueError naming the prefix.
 */
export function requirePrefix(prefix: string): void {
  if (prefix === "") return;
  requireArgument("a prefix", prefix, aText);
  if (!prefix.endsWith("/")) throw new CheckpointValueError(`a prefix ends with "/", ${JSON.stringify(prefix)} does not`);
  requirePath(prefix.slice(0, -1));
}

/**
 * Checks that offset, length and end are integers that a number holds exactly, and not negative.
 * @throws CheckpointValueError naming the range.
 */
export function requireRange(range: ByteRange): void {
  requireArgument("a range", range, { ...anObject, expected: "{ offset, length }" });
  const { offset, length } = range;
  const valid = Number.isSafeInteger(offset) && Number.isSafeInteger(length) && Number.isSafeInteger(offset + length);
  if (!valid || offset < 0 || length < 0) {
    throw new CheckpointValueError(`a range has a whole offset and length from 0 to 2^53 - 1, not offset ${offset} and length ${length}`);
  }
}

/** A path below a folder, which is `""` for the storage itself, as is a name for the folder. */
export const pathIn = (folder: string, name: string): string => (folder === "" || name === "" ? folder + name : `${folder}/${name}`);

const pathRule = 'use parts joined by "/", without empty ones, ".", ".." or a NUL';

const isPart = (part: string) => part !== "" && part !== "." && part !== ".." && !part.includes("\0");
