import { type FileCreation, gatheringWriter } from "./fileWriter.js";
import { sliceOf } from "./lengthError.js";
import { listingOf } from "./listing.js";
import { requirePath, requirePrefix, requireRange } from "./paths.js";
import type { WritableStorage } from "./storage.js";

/**
 * Files in memory, by path. Bytes given here are kept, not copied, and `read` answers with views of them; `write` copies.
 * @throws CheckpointValueError on a path that no storage takes.
 */
export function memoryStorage(
  files: Readonly<Record<string, Uint8Array>> | ReadonlyMap<string, Uint8Array> = new Map<string, Uint8Array>(),
): WritableStorage {
  const stored = new Map(files instanceof Map ? files : Object.entries(files));
  for (const path of stored.keys()) requirePath(path);
  const storage: WritableStorage & FileCreation = {
    name: "memory",

    async read(path, { range, signal } = {}) {
      requirePath(path);
      if (range !== undefined) requireRange(range);
      signal?.throwIfAborted();
      const bytes = stored.get(path);
      return bytes === undefined || range === undefined ? bytes : sliceOf(path, bytes, range);
    },

    async list(prefix, { signal } = {}) {
      requirePrefix(prefix);
      signal?.throwIfAborted();
      return listingOf(stored.keys(), prefix);
    },

    async write(path, bytes, { signal } = {}) {
      requirePath(path);
      signal?.throwIfAborted();
      // Not slice, which on Node's Buffer copies nothing.
      stored.set(path, new Uint8Array(bytes));
    },

    async create(path, { signal } = {}) {
      requirePath(path);
      signal?.throwIfAborted();
      return gatheringWriter((bytes) => void stored.set(path, bytes), signal);
    },

    async remove(path, { signal } = {}) {
      requirePath(path);
      signal?.throwIfAborted();
      for (const key of [...stored.keys()]) if (key === path || key.startsWith(`${path}/`)) stored.delete(key);
    },
  };
  return storage;
}
