import { endOf } from "../bytes/ranges.js";
import { isCheckpointError, StorageError } from "../errors.js";
import type { ReadableStorage, ReadOptions } from "./storage.js";

const beginning = "version https://git-lfs.github.com/spec/";

/** Whether a file's first bytes are those of a Git LFS pointer: the text that stands for a file which was not fetched. */
export const isLfsPointer = (head: Uint8Array): boolean =>
  head.length >= beginning.length && [...beginning].every((character, index) => head[index] === character.charCodeAt(0));

/**
 * Reads a file, or a part of it.
 * @throws StorageError `"not-a-checkpoint"` for a Git LFS pointer, where the read begins with it or goes beyond its end.
 */
export async function readNoPointer(storage: ReadableStorage, path: string, options: ReadOptions): Promise<Uint8Array | undefined> {
  try {
    const bytes = await storage.read(path, options);
    if (bytes && (options.range?.offset ?? 0) === 0 && isLfsPointer(bytes)) throw pointerError(path);
    return bytes;
  } catch (error) {
    if (!isCheckpointError(error, "Storage") || error.reason !== "length" || options.range === undefined) throw error;
    const head = { offset: 0, length: beginning.length };
    if (endOf(options.range) <= head.length) throw error;
    const bytes = await storage.read(path, { ...options, range: head }).catch(() => undefined);
    throw bytes && isLfsPointer(bytes) ? pointerError(path) : error;
  }
}

const pointerError = (path: string): StorageError =>
  new StorageError({
    path,
    reason: "not-a-checkpoint",
    message: "a Git LFS pointer stands in place of the file; run `git lfs install` and `git lfs pull` in the clone that it came from",
  });
