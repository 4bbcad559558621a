import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { aText, requireArgument, someBytes } from "../arguments.js";
import { type ByteRange, endOf } from "../bytes/ranges.js";
import { CheckpointValueError, StorageError } from "../errors.js";
import { withCheckedOptions } from "./checkedOptions.js";
import { type FileWriter, writeWhole } from "./fileWriter.js";
import { fileTooLong, lengthError } from "./lengthError.js";
import { nodeLocks } from "./node/locks.js";
import { isAbandoned, partialName } from "./node/partialNames.js";
import { requirePath, requirePrefix, requireRange } from "./paths.js";
import { noFileToMove, placeTaken } from "./placeErrors.js";
import type { ReadOptions, StorageListing, WritableStorage } from "./storage.js";
import { absentFileError, streamPieceLength } from "./streamRange.js";

interface Options {
  readonly signal?: AbortSignal | undefined;
}

/**
 * A folder of the file system (Node). Nothing is touched before the first call; writes make the folders they need and replace a
 * file at once. A relative `dir` is taken from the working directory of each call.
 * @throws CheckpointValueError on an empty `dir`, and on what is no text.
 */
export function nodeStorage(dir: string): WritableStorage {
  requireArgument("what nodeStorage takes", dir, {
    ...aText,
    expected: "a folder's path as text; make one of a file: URL with fileURLToPath",
  });
  if (dir.trim() === "") throw new CheckpointValueError('nodeStorage needs a folder; use "." for the working directory');
  const locate = (path: string) => {
    requirePath(path);
    // On Windows these two would part or root a path, and so could leave the folder.
    if (sep === "\\" && /[\\:]/.test(path))
      throw new CheckpointValueError(`${JSON.stringify(path)} is no path on this system; Windows takes no backslash and ":" in names`);
    return join(dir, path);
  };
  const folderOf = (prefix: string) => {
    requirePrefix(prefix);
    return prefix === "" ? dir : locate(prefix.slice(0, -1));
  };
  return withCheckedOptions<WritableStorage>({
    name: dir,
    read: async (path, options = {}) => read(path, locate(path), options),
    size: async (path, options = {}) => size(path, locate(path), options),
    stream: (path, range, options = {}) => stream(path, locate(path), range, options),
    list: async (prefix, options = {}) => list(prefix, folderOf(prefix), options),
    write: async (path, bytes, options = {}) => writeWhole(create(path, locate(path), options), bytes),
    create: async (path, { inPlace = false, ...options } = {}) => (inPlace ? createInPlace : create)(path, locate(path), options),
    move: async (from, to, options = {}) => move({ path: from, file: locate(from) }, { path: to, file: locate(to) }, options),
    remove: async (path, { signal } = {}) => {
      const file = locate(path);
      signal?.throwIfAborted();
      await attempt(path, rm(file, { recursive: true, force: true }));
    },
    removeAbandoned: async (prefix, options = {}) => {
      const { files } = await list(prefix, folderOf(prefix), options);
      for (const name of files.filter(isAbandoned)) await attempt(prefix + name, rm(locate(prefix + name), { force: true }));
    },
    locks: nodeLocks(dir),
  });
}

async function read(path: string, file: string, { range, longest, signal }: ReadOptions) {
  if (range !== undefined) requireRange(range);
  signal?.throwIfAborted();
  return withFile(path, file, async (handle, size) => {
    if (range === undefined && longest !== undefined && size > longest) throw fileTooLong(path, longest);
    const wanted = range ?? { offset: 0, length: size };
    if (endOf(wanted) > size) throw lengthError(path, wanted, size);
    return readFully(path, handle, wanted, signal);
  });
}

async function size(path: string, file: string, { signal }: Options): Promise<number | undefined> {
  signal?.throwIfAborted();
  return withFile(path, file, async (_, size) => size);
}

async function* stream(path: string, file: string, range: ByteRange, { signal }: Options): AsyncIterable<Uint8Array> {
  requireRange(range);
  signal?.throwIfAborted();
  const opened = await openFile(path, file);
  if (opened === undefined) throw absentFileError(path, range);
  try {
    if (endOf(range) > opened.size) throw lengthError(path, range, opened.size);
    for (let offset = range.offset; offset < endOf(range); offset += streamPieceLength) {
      const length = Math.min(streamPieceLength, endOf(range) - offset);
      yield await readFully(path, opened.handle, { offset, length }, signal);
    }
  } finally {
    await opened.handle.close();
  }
}

async function list(prefix: string, folder: string, { signal }: Options): Promise<StorageListing> {
  signal?.throwIfAborted();
  const entries = await attempt(prefix, readdir(folder, { withFileTypes: true }));
  signal?.throwIfAborted();
  const files: string[] = [];
  const directories: string[] = [];
  for (const entry of entries ?? []) {
    // A symbolic link says nothing of its target, and one that leads nowhere is neither.
    const kind = entry.isSymbolicLink() ? await attempt(prefix + entry.name, stat(join(folder, entry.name))) : entry;
    if (kind?.isFile()) files.push(entry.name);
    else if (kind?.isDirectory()) directories.push(entry.name);
  }
  return { files: files.sort(), directories: directories.sort() };
}

/** Writes beside the file and renames, so that a reader sees the old bytes or the new ones. */
async function create(path: string, file: string, { signal }: Options): Promise<FileWriter> {
  signal?.throwIfAborted();
  const beside = join(dirname(file), partialName());
  await attempt(path, mkdir(dirname(file), { recursive: true }), "write");
  const handle = await attempt(path, open(beside, "wx"), "write");
  const filling = fillingOf(path, handle, signal);
  let placed = false;
  return {
    ...filling,
    async close() {
      await filling.close();
      await attempt(path, rename(beside, file), "write");
      placed = true;
    },
    async abort() {
      if (placed) return;
      // The failure that matters is the one before.
      await handle.close().catch(() => undefined);
      await rm(beside, { force: true }).catch(() => undefined);
    },
  };
}

/** What every writer does with its file. */
function fillingOf(path: string, handle: FileHandle, signal: AbortSignal | undefined): Omit<FileWriter, "abort"> {
  return {
    async write(bytes) {
      requireArgument("what a writer takes", bytes, someBytes);
      await writeFully(path, handle, bytes, signal);
    },
    async close() {
      signal?.throwIfAborted();
      // Else a power cut could leave a name with none of its bytes.
      await attempt(path, handle.sync(), "write");
      await attempt(path, handle.close(), "write");
    },
  };
}

/** Writes the file itself, so that what was written is there whatever happens to the writer. */
async function createInPlace(path: string, file: string, { signal }: Options): Promise<FileWriter> {
  signal?.throwIfAborted();
  await attempt(path, mkdir(dirname(file), { recursive: true }), "write");
  const handle = await attempt(path, open(file, "w"), "write");
  return {
    ...fillingOf(path, handle, signal),
    // It may be closed already.
    abort: () => handle.close().catch(() => undefined),
  };
}

/** A file by its path in the storage, and in the file system. */
interface Place {
  readonly path: string;
  readonly file: string;
}

async function move(from: Place, to: Place, { signal }: Options): Promise<void> {
  signal?.throwIfAborted();
  const found = await attempt(from.path, stat(from.file));
  if (!found?.isFile()) throw noFileToMove(from.path);
  await attempt(to.path, mkdir(dirname(to.file), { recursive: true }), "write");
  // Which Windows would call a matter of permissions.
  if ((await attempt(to.path, stat(to.file)))?.isDirectory()) throw placeTaken(to.path);
  await attempt(to.path, rename(from.file, to.file), "write");
}

async function writeFully(path: string, handle: FileHandle, bytes: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    signal?.throwIfAborted();
    const length = Math.min(longestCall, bytes.length - done);
    done += (await attempt(path, handle.write(bytes, done, length), "write")).bytesWritten;
  }
  signal?.throwIfAborted();
}

async function withFile<Value>(path: string, file: string, use: (handle: FileHandle, size: number) => Promise<Value>) {
  const opened = await openFile(path, file);
  if (opened === undefined) return undefined;
  try {
    return await use(opened.handle, opened.size);
  } finally {
    await opened.handle.close();
  }
}

/** `undefined` where no file stands; a folder is no file. */
async function openFile(path: string, file: string): Promise<{ handle: FileHandle; size: number } | undefined> {
  const handle = await attempt(path, open(file, "r"));
  if (handle === undefined) return undefined;
  const status = await handle.stat();
  if (status.isFile()) return { handle, size: status.size };
  await handle.close();
  return undefined;
}

async function readFully(path: string, handle: FileHandle, range: ByteRange, signal: AbortSignal | undefined): Promise<Uint8Array> {
  const bytes = new Uint8Array(range.length);
  for (let done = 0; done < range.length; ) {
    const length = Math.min(longestCall, range.length - done);
    const answer = await attempt(path, handle.read(bytes, done, length, range.offset + done));
    signal?.throwIfAborted();
    if (answer === undefined || answer.bytesRead === 0) throw lengthError(path, range, range.offset + done);
    done += answer.bytesRead;
  }
  return bytes;
}

// So that an abort is seen within a large read or write, and below the 2 GiB that one call takes.
const longestCall = 64 * 1024 * 1024;

const absentCodes = new Set(["ENOENT", "ENOTDIR", "EISDIR"]);

const fullCodes = new Set(["ENOSPC", "EDQUOT"]);
const noRoom = "the disk is full, or this user's part of it; free space, and save again";

/** `undefined` where nothing stands there (when reading); any other failure as a StorageError. */
async function attempt<Value>(path: string, work: Promise<Value>, kind: "write"): Promise<Value>;
async function attempt<Value>(path: string, work: Promise<Value>, kind?: "read"): Promise<Value | undefined>;
async function attempt<Value>(path: string, work: Promise<Value>, kind: "read" | "write" = "read"): Promise<Value | undefined> {
  try {
    return await work;
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
    if (kind === "read" && absentCodes.has(code)) return undefined;
    if (fullCodes.has(code)) throw new StorageError({ path, reason: "quota", message: `${code}: ${noRoom}`, cause });
    const message = `the file system answered ${code} on a ${kind}; check permissions, free space and the disk`;
    throw new StorageError({ path, reason: "io", message, cause });
  }
}
