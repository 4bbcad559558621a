import type { ByteRange } from "../bytes/ranges.js";
import { endOf } from "../bytes/ranges.js";
import { CheckpointValueError } from "../errors.js";
import { abortable } from "../tasks/context.js";
import type { FileWriter } from "./fileWriter.js";
import { keepsStreams, keptStreamOf } from "./keptStream.js";
import { lengthError } from "./lengthError.js";
import { readNoPointer } from "./lfsPointer.js";
import type { ReadableStorage, ReadOptions, StorageListing, WritableStorage } from "./storage.js";
import { isWritable } from "./writable.js";

/**
 * The same storage, whose answers are what {@link ReadableStorage} promises: a caller's own one may answer with anything, and whole files
 * in place of ranges would pass for other bytes. Git LFS pointers are refused. Aborts of reads do not wait for it, and shared memory is copied. Writable where that is.
 * @throws CheckpointValueError that says what its methods have to give, StorageError `"length"` where a range reaches past the file's end.
 */
export function checkedStorage(storage: WritableStorage): WritableStorage;
export function checkedStorage(storage: ReadableStorage): ReadableStorage;
export function checkedStorage(storage: ReadableStorage): ReadableStorage {
  const { size, stream, handle, snapshot } = storage;
  const kept = keptStreamOf(storage);
  const checked: ReadableStorage = {
    ...(storage.name !== undefined && { name: storage.name }),
    async read(path, options = {}) {
      const bytes = await stoppable(() => readNoPointer(storage, path, options), options);
      return bytes === undefined || bytes === null ? undefined : requireBytes(path, bytes, options);
    },
    list: async (prefix, options = {}) => requireListing(prefix, await stoppable(() => storage.list(prefix, options), options)),
    ...(size && {
      size: async (path, options = {}) => requireSize(path, await stoppable(() => size.call(storage, path, options), options)),
    }),
    ...(stream && { stream: (path, range, options) => checkedPieces(path, range, stream.call(storage, path, range, options)) }),
    ...(handle && {
      handle: async (path, options = {}) => requireHandle(path, await stoppable(() => handle.call(storage, path, options), options)),
    }),
    ...(snapshot && { snapshot: () => checkedStorage(snapshot.call(storage)) }),
    ...(isWritable(storage) && checkedWriting(storage)),
  };
  return keepsStreams(checked, kept && ((path, range, options) => checkedPieces(path, range, kept(path, range, options))));
}

/** Changes that have begun come to their end, whatever the signal says: what they left half done could not be told. */
function checkedWriting(storage: WritableStorage): Omit<WritableStorage, keyof ReadableStorage> {
  const { requireRoom, removeAbandoned } = storage;
  const unlessAborted = async <Value>({ signal }: ReadOptions, call: () => Promise<Value>): Promise<Value> => {
    signal?.throwIfAborted();
    return call();
  };
  return {
    create: (path, options = {}) => unlessAborted(options, async () => requireWriter(path, await storage.create(path, options))),
    write: (path, bytes, options = {}) => unlessAborted(options, () => storage.write(path, bytes, options)),
    move: (from, to, options = {}) => unlessAborted(options, () => storage.move(from, to, options)),
    remove: (path, options = {}) => unlessAborted(options, () => storage.remove(path, options)),
    ...(requireRoom && {
      requireRoom: (byteLength, options = {}) => unlessAborted(options, () => requireRoom.call(storage, byteLength, options)),
    }),
    ...(removeAbandoned && {
      removeAbandoned: (prefix, options = {}) => unlessAborted(options, () => removeAbandoned.call(storage, prefix, options)),
    }),
  };
}

function requireWriter(path: string, writer: FileWriter): FileWriter {
  const methods = [writer?.write, writer?.close, writer?.abort];
  if (methods.every((method) => typeof method === "function")) return writer;
  throw new CheckpointValueError(`${path}: the storage's create gave no writer; it gives { write(bytes), close(), abort() }`);
}

/** Asks unless it was aborted before, and stops waiting when it is; what is there, or throws, at once is as good as a promise. */
async function stoppable<Value>(call: () => Promise<Value>, { signal }: ReadOptions): Promise<Value> {
  signal?.throwIfAborted();
  return abortable((async () => call())(), { signal });
}

function requireBytes(path: string, bytes: Uint8Array, { range }: ReadOptions): Uint8Array {
  requireUint8Array(path, "read", bytes);
  if (range !== undefined && bytes.length > range.length) throw tooMany(path, "read", range);
  if (range !== undefined && bytes.length < range.length) throw lengthError(path, range, range.offset + bytes.length);
  return unshared(bytes);
}

async function* checkedPieces(path: string, range: ByteRange, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const piece of pieces) {
    requireUint8Array(path, "stream", piece);
    length += piece.length;
    if (length > range.length) throw tooMany(path, "stream", range);
    yield unshared(piece);
  }
  if (length < range.length) throw lengthError(path, range, range.offset + length);
}

/** By their tags, since arrays of other realms are as good. */
const tagOf = (value: unknown): string => Object.prototype.toString.call(value).slice("[object ".length, -1);

function requireUint8Array(path: string, method: string, bytes: unknown): void {
  if (tagOf(bytes) === "Uint8Array") return;
  throw new CheckpointValueError(
    `${path}: the storage's ${method} gave ${tagOf(bytes)}; it gives a Uint8Array, and read undefined where there is no file`,
  );
}

const tooMany = (path: string, method: string, range: ByteRange): CheckpointValueError =>
  new CheckpointValueError(
    `${path}: the storage's ${method} gave more than bytes ${range.offset} to ${endOf(range)}; it gives just those where ${method === "read" ? "options.range asks for them" : "they are asked for"}`,
  );

/** Browsers decode no text, and digest no bytes, of shared memory. */
const unshared = (bytes: Uint8Array): Uint8Array => (tagOf(bytes.buffer) === "SharedArrayBuffer" ? new Uint8Array(bytes) : bytes);

/** Only the platform's own handles can be sent to a worker. */
function requireHandle(path: string, handle: FileSystemFileHandle | undefined): FileSystemFileHandle | undefined {
  if (handle === undefined || handle === null) return undefined;
  if (tagOf(handle) === "FileSystemFileHandle") return handle;
  throw new CheckpointValueError(
    `${path}: the storage's handle gave ${tagOf(handle)}; it gives a FileSystemFileHandle, and undefined where there is none`,
  );
}

function requireSize(path: string, size: number | undefined): number | undefined {
  if (size === undefined || size === null) return undefined;
  if (Number.isSafeInteger(size) && size >= 0) return size;
  throw new CheckpointValueError(
    `${path}: the storage's size gave ${size}; it gives a number of bytes, and undefined where there is no file`,
  );
}

function requireListing(prefix: string, listing: StorageListing): StorageListing {
  if (Array.isArray(listing?.files) && Array.isArray(listing.directories)) return listing;
  throw new CheckpointValueError(
    `${prefix === "" ? "the root" : prefix}: the storage's list gave no list; it gives { files: [names], directories: [names] } of what stands directly below`,
  );
}
