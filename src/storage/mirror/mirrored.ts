import { aFunction, aSignal, aText, integerFrom, requireArgument, requireOptions } from "../../arguments.js";
import { ByteBudget } from "../../tasks/budget.js";
import { withCheckedOptions } from "../checkedOptions.js";
import { withCoalescing } from "../coalesce.js";
import { httpStorage } from "../http.js";
import { opfsStorage } from "../opfs.js";
import { requirePath, requirePrefix, requireRange } from "../paths.js";
import type { ReadableStorage, WritableStorage } from "../storage.js";
import { absentFileError, piecesOf } from "../streamRange.js";
import { aStorage, aWritableStorage } from "../writable.js";
import { downloadAll } from "./downloadAll.js";
import { Keeper } from "./keeper.js";
import { MirrorFolder } from "./mirrorFolder.js";
import type { MirrorProgress } from "./progress.js";
import { MirrorSession } from "./session.js";
import { Usage } from "./usage.js";

/** How {@link mirrored} keeps. */
export interface MirrorOptions {
  /** Most bytes that all mirrors in the cache keep together; files that were used longest ago go first. No limit unless given. */
  readonly limit?: number | undefined;
  /** Called whenever bytes have come, from the source or the cache, and whenever the source begins or ceases to answer. */
  readonly onProgress?: ((progress: MirrorProgress) => void) | undefined;
}

/** A place whose files are kept as they are read. Its reads do not fail for want of room, or of a cache: `progress.problem` tells. */
export interface Mirror extends ReadableStorage {
  snapshot(): ReadableStorage;
  readonly progress: MirrorProgress;
  /**
   * Keeps all files below a folder, `""` for all; what was kept before is not fetched again.
   * @throws CheckpointNotFoundError for a folder without files, StorageError `"cannot-list"` where the source cannot tell its files, what kept files from being kept, and as reads do.
   */
  download(folder?: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;
  /** Stops all that is under way: it rejects with an AbortError, or the reason; what was kept stays. */
  abort(reason?: unknown): void;
  /** Bytes of the source that are in the cache. */
  size(): Promise<number>;
  /** As every storage's: bytes that a file has at the source. */
  size(path: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<number | undefined>;
  /** Stops all that is under way and removes what is kept of the source. */
  remove(): Promise<void>;
}

const mirrorRules = { limit: integerFrom(1, ", in bytes"), onProgress: aFunction };

/** Most bytes that streams of one mirror ask for ahead of their readers. */
const mostAhead = 16 * 1024 * 1024;

/**
 * A place that is read from a cache where that has the bytes, and from the source where not; what was fetched is kept, so that no byte is fetched
 * twice, whenever a tab ends, and all that was read once is there without a network. Each opening compares the files that it reads with the
 * source's, by size, ETag, date or bytes: where one has changed all that is kept counts for nothing.
 * @param source a URL, or any storage; its name tells it from others in the cache.
 * @param cache a folder's path in the origin's private file system (OPFS), or any storage that can be written to.
 * @throws CheckpointValueError for a limit that is no positive integer, and as `httpStorage` and `opfsStorage`.
 */
export function mirrored(source: string | URL | ReadableStorage, cache: string | WritableStorage, options: MirrorOptions = {}): Mirror {
  requireOptions("mirrored", options, mirrorRules);
  const { limit, onProgress } = options;
  const isAddress = typeof source === "string" || source instanceof URL;
  if (!isAddress) requireArgument("the source that mirrored takes", source, { ...aStorage, expected: `a URL, or ${aStorage.expected}` });
  if (typeof cache !== "string")
    requireArgument("the cache that mirrored takes", cache, {
      ...aWritableStorage,
      expected: `a folder's path in OPFS, or ${aWritableStorage.expected}`,
    });
  const from = isAddress ? httpStorage(source) : source;
  const into = typeof cache === "string" ? opfsStorage(cache) : cache;
  const keeper = new Keeper(
    new MirrorFolder(into, from.name ?? "source"),
    limit === undefined ? undefined : new Usage(into, limit),
    onProgress,
  );
  const ahead = new ByteBudget(mostAhead);
  const session = () => new MirrorSession(keeper, from.snapshot?.() ?? from, ahead);
  const reading = (name: string | undefined, open: () => MirrorSession) => withCoalescing(storageOf(name, keeper, open));
  let own = session();
  const current = withCheckedOptions(reading(from.name, () => own));
  function size(): Promise<number>;
  function size(path: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<number | undefined>;
  async function size(path?: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<number | undefined> {
    if (path !== undefined) return current.size?.(path, options);
    await keeper.settled();
    return keeper.folder.byteLength();
  }
  return {
    ...current,
    size,
    snapshot: () => {
      const pinned = session();
      return reading(from.name, () => pinned);
    },
    get progress() {
      return keeper.progress;
    },
    async download(folder = "", options = {}) {
      requireArgument("the folder that download takes", folder, aText);
      requireOptions("download", options, { signal: aSignal });
      const { signal } = options;
      if (folder !== "") requirePath(folder);
      await downloadAll(session(), keeper, folder === "" ? "" : `${folder}/`, keeper.signalWith(signal));
    },
    abort: (reason) => keeper.abort(reason),
    async remove() {
      await keeper.remove();
      own = session();
    },
  };
}

/** A session as a storage. */
function storageOf(name: string | undefined, keeper: Keeper, session: () => MirrorSession): ReadableStorage {
  return {
    ...(name !== undefined && { name }),
    async read(path, { range, longest, signal } = {}) {
      requirePath(path);
      if (range !== undefined) requireRange(range);
      signal?.throwIfAborted();
      const both = keeper.signalWith(signal);
      return range === undefined ? session().whole(path, longest, both) : session().range(path, range, both);
    },
    async *stream(path, range, { signal } = {}) {
      requirePath(path);
      requireRange(range);
      signal?.throwIfAborted();
      if (range.length === 0) return;
      for await (const bytes of session().parts(path, range, keeper.signalWith(signal))) {
        if (bytes === undefined) throw absentFileError(path, range);
        for (const piece of piecesOf(bytes)) {
          yield piece;
          signal?.throwIfAborted();
        }
      }
    },
    async size(path, { signal } = {}) {
      requirePath(path);
      signal?.throwIfAborted();
      return session().size(path, keeper.signalWith(signal));
    },
    async list(prefix, { signal } = {}) {
      requirePrefix(prefix);
      signal?.throwIfAborted();
      return session().list(prefix, keeper.signalWith(signal));
    },
  };
}
