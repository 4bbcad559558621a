import type { ByteRange } from "../bytes/ranges.js";
import type { FileWriter } from "./fileWriter.js";
import type { DirectoryLocks } from "./locks/locks.js";

/** What a read may say. */
export interface ReadOptions {
  /** Only these bytes; the answer has exactly that length or the read throws. */
  readonly range?: ByteRange | undefined;
  /**
   * Most bytes that a whole file may have to be of use. A place that has to fetch it stops there with StorageError `"length"`, so that a
   * file without end does no harm; others may answer all the same.
   */
  readonly longest?: number | undefined;
  /** True: the range is asked for by itself, so that no bytes come along which lie between it and other ranges. */
  readonly alone?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What a place tells of a file beside its bytes; each may be hidden or never told. */
export interface FileFacts {
  /** Strong ETag; a weak one does not promise the same bytes and differs between a host's machines. */
  readonly etag?: string | undefined;
  /** When it was written last, as an HTTP date. */
  readonly modified?: string | undefined;
  /** In bytes. */
  readonly size?: number | undefined;
}

/** How {@link ReadableStorage.facts} asks. */
export interface FactsOptions {
  /** True: nothing is asked, only what earlier answers told counts. */
  readonly told?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What stands directly below a prefix: names without the prefix and without slashes. */
export interface StorageListing {
  readonly files: readonly string[];
  readonly directories: readonly string[];
}

/**
 * Bytes by path. Paths are relative, parted by `/`, never start or end with one and hold no `.` or `..` part.
 * A folder, a web server and an opened OCDBT database are all storages.
 */
export interface ReadableStorage {
  /** What errors call this place: a URL without credentials, a folder. */
  readonly name?: string | undefined;

  /**
   * Bytes of a file, or `undefined` where there is none. The caller must not write into the answer.
   * @throws StorageError where the place fails, or a range reaches past the file's end (reason `"length"`).
   */
  read(path: string, options?: ReadOptions): Promise<Uint8Array | undefined>;

  /**
   * Entries directly below `prefix`, which is `""` or ends with `/`; empty lists where there are none.
   * @throws StorageError with reason `"cannot-list"` where the place cannot tell.
   */
  list(prefix: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<StorageListing>;

  /**
   * The same bytes in pieces as they arrive, for files larger than memory should hold at once; pieces may be reused after
   * the next one is asked for. Optional: {@link streamRange} makes one from `read`.
   */
  stream?(path: string, range: ByteRange, options?: { readonly signal?: AbortSignal | undefined }): AsyncIterable<Uint8Array>;

  /**
   * Bytes that a file has, without reading them; `undefined` where there is no such file, or where this cannot be told. Optional: long files
   * of which only some parts are needed are found their way in by it.
   * @throws StorageError where the place fails.
   */
  size?(path: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<number | undefined>;

  /**
   * The file itself, so that a worker can read it at first hand; `undefined` where there is none. Optional: only folders that the
   * browser keeps, or that its user picked, have such.
   * @throws StorageError where the place fails.
   */
  handle?(path: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<FileSystemFileHandle | undefined>;

  /**
   * What tells a file's versions apart, without its bytes and by one try, or of what stands at a prefix; `undefined` where nothing is.
   * Optional: a place that can tell more than the bytes do.
   * @throws StorageError where the place gives no answer.
   */
  facts?(path: string, options?: FactsOptions): Promise<FileFacts | undefined>;

  /**
   * The same place, for one opening of a checkpoint: within the answer each file keeps one version, and another one throws
   * StorageError `"changed"`; a later snapshot sees the new version. Optional: a place that cannot change below its reader has none.
   */
  snapshot?(): ReadableStorage;
}

/** How a file is begun. */
export interface CreateOptions {
  /**
   * True: the file stands at its path at once, and has what was written so far also where its writer ends without a word; `abort` leaves it
   * so. A place that cannot do that may wait until it is closed.
   */
  readonly inPlace?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A storage that can also be changed. Folders come with the files in them. */
export interface WritableStorage extends ReadableStorage {
  /**
   * Begins a file that is written piece by piece; it stands at its path, whole, once it is closed. The signal also stops its later writes.
   * @throws CheckpointValueError for what is no path, StorageError where the place fails; so do the others.
   */
  create(path: string, options?: CreateOptions): Promise<FileWriter>;

  /** Writes a whole file, in place of what was there: who reads it meanwhile gets the old bytes or the new ones. */
  write(path: string, bytes: Uint8Array, options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;

  /**
   * Gives a file another path, in place of a file that was there.
   * @throws StorageError where there is no such file, and where a folder stands at the new path.
   */
  move(from: string, to: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;

  /** Removes a file, or a folder with all in it, not at once; nothing where there is none. */
  remove(path: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;

  /**
   * Removes what was being written directly below a prefix, which is `""` or ends with `/`, by writers that have ended since, such as a
   * closed tab; never what one may still be writing. Optional: a place where such writers leave something.
   */
  removeAbandoned?(prefix: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;

  /**
   * To be asked before so many bytes are written. Optional: a place that can tell.
   * @throws StorageError `"quota"` where there is no room for them.
   */
  requireRoom?(byteLength: number, options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;

  /** Locks among all that may use the place at once. Optional: where there are none, those who share this object take turns. */
  readonly locks?: DirectoryLocks | undefined;
}
