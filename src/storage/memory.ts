import { anObject, requireArgument, someBytes } from "../arguments.js";
import { withCheckedOptions } from "./checkedOptions.js";
import { gatheringWriter, growingWriter } from "./fileWriter.js";
import { sliceOf } from "./lengthError.js";
import { listingOf } from "./listing.js";
import { requirePath, requirePrefix, requireRange } from "./paths.js";
import { noFileToMove, placeTaken } from "./placeErrors.js";
import type { WritableStorage } from "./storage.js";

/**
 * Files in memory, by path. Bytes given here are kept, not copied, and `read` answers with views of them; `write` copies.
 * @throws CheckpointValueError on a path that no storage takes.
 */
export function memoryStorage(
  files: Readonly<Record<string, Uint8Array>> | ReadonlyMap<string, Uint8Array> = new Map<string, Uint8Array>(),
): WritableStorage {
  requireArgument("what memoryStorage takes", files, { ...anObject, expected: "an object or a Map of bytes by path" });
  const stored = new Map(files instanceof Map ? files : Object.entries(files));
  for (const [path, bytes] of stored) {
    requirePath(path);
    requireArgument(`memoryStorage's file ${path}`, bytes, someBytes);
  }
  const put = (path: string, bytes: Uint8Array) => {
    if (!stored.has(path)) requirePlace(stored, path);
    stored.set(path, bytes);
  };
  return withCheckedOptions<WritableStorage>({
    name: "memory",

    async read(path, { range, signal } = {}) {
      requirePath(path);
      if (range !== undefined) requireRange(range);
      signal?.throwIfAborted();
      const bytes = stored.get(path);
      return bytes === undefined || range === undefined ? bytes : sliceOf(path, bytes, range);
    },

    async size(path, { signal } = {}) {
      requirePath(path);
      signal?.throwIfAborted();
      return stored.get(path)?.byteLength;
    },

    async list(prefix, { signal } = {}) {
      requirePrefix(prefix);
      signal?.throwIfAborted();
      return listingOf(stored.keys(), prefix);
    },

    async write(path, bytes, { signal } = {}) {
      requirePath(path);
      requireArgument(`what is written to ${path}`, bytes, someBytes);
      signal?.throwIfAborted();
      // Not slice, which on Node's Buffer copies nothing.
      put(path, new Uint8Array(bytes));
    },

    async create(path, { inPlace = false, signal } = {}) {
      requirePath(path);
      signal?.throwIfAborted();
      if (inPlace) put(path, new Uint8Array());
      if (inPlace) return growingWriter((bytes) => put(path, bytes), signal);
      return gatheringWriter((bytes) => put(path, bytes), signal);
    },

    async move(from, to, { signal } = {}) {
      requirePath(from);
      requirePath(to);
      signal?.throwIfAborted();
      const bytes = stored.get(from);
      if (bytes === undefined) throw noFileToMove(from);
      put(to, bytes);
      if (from !== to) stored.delete(from);
    },

    async remove(path, { signal } = {}) {
      requirePath(path);
      signal?.throwIfAborted();
      for (const key of [...stored.keys()]) if (key === path || key.startsWith(`${path}/`)) stored.delete(key);
    },
  });
}

/** As in folders, where no name is both a file and a folder. */
function requirePlace(stored: ReadonlyMap<string, Uint8Array>, path: string): void {
  for (let slash = path.indexOf("/"); slash > 0; slash = path.indexOf("/", slash + 1))
    if (stored.has(path.slice(0, slash))) throw placeTaken(path);
  for (const key of stored.keys()) if (key.startsWith(`${path}/`)) throw placeTaken(path);
}
