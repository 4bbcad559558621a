import { StorageError } from "../errors.js";
import type { TaskContext } from "../tasks/context.js";
import { blobPieces } from "./fileSystem/blobBytes.js";
import { isAbsence, nameOf } from "./fileSystem/failures.js";
import { Handles, unlessAbsent } from "./fileSystem/handles.js";
import { type FilePlace, makePlace, splitPath } from "./fileSystem/makeFolder.js";
import { type Movable, moveFile } from "./fileSystem/moveFile.js";
import { removeAbandoned as removeAbandonedIn } from "./fileSystem/partialFiles.js";
import { patiently } from "./fileSystem/patiently.js";
import { createPlacedFile } from "./fileSystem/placedFile.js";
import type { FileWriter } from "./fileWriter.js";
import { requirePath, requirePrefix } from "./paths.js";
import { noFileToMove } from "./placeErrors.js";
import type { CreateOptions } from "./storage.js";
import type { WrittenDirectory } from "./writtenDirectory.js";

/** Begins a file. */
export async function create(directory: WrittenDirectory, path: string, options: CreateOptions): Promise<FileWriter> {
  requirePath(path);
  options.signal?.throwIfAborted();
  return createPlacedFile(path, await placeOf(directory, path), directory.openSink, options);
}

async function placeOf(directory: WrittenDirectory, path: string) {
  const root = await directory.openRoot(true);
  if (root === undefined) throw new Error("unreachable: a root that is made is there");
  return makePlace(root, path);
}

/** Moves a file, or copies it where the browser moves none. */
export async function move(directory: WrittenDirectory, from: string, to: string, ctx: TaskContext): Promise<void> {
  requirePath(from);
  requirePath(to);
  ctx.signal?.throwIfAborted();
  const source: (FileSystemFileHandle & Movable) | undefined = await handlesOf(directory).file(from);
  if (source === undefined) throw noFileToMove(from);
  if (from === to) return;
  const place = await placeOf(directory, to);
  const moved = await patiently(to, () => moveHandle(to, source, place, directory.openSink !== undefined), ctx);
  if (!moved) await moveBytes(directory, source, { from, to }, ctx);
}

/** False where the browser moves no such files. */
async function moveHandle(path: string, source: Movable, place: FilePlace, always: boolean): Promise<boolean> {
  try {
    return await moveFile(path, source, place);
  } catch (cause) {
    // With what a browser refuses to move files of the user's own folders is told nowhere.
    if (always || cause instanceof StorageError || realFailures.has(nameOf(cause))) throw cause;
    return false;
  }
}

const realFailures = new Set(["NotFoundError", "NoModificationAllowedError", "QuotaExceededError"]);

async function moveBytes(
  directory: WrittenDirectory,
  source: FileSystemFileHandle,
  { from, to }: { readonly from: string; readonly to: string },
  ctx: TaskContext,
): Promise<void> {
  const file = await unlessAbsent(from, source.getFile());
  if (file === undefined) throw noFileToMove(from);
  const writer = await create(directory, to, ctx);
  try {
    for await (const piece of blobPieces(file, ctx)) await writer.write(piece);
    await writer.close();
  } catch (error) {
    await writer.abort();
    throw error;
  }
  await remove(directory, from, {});
}

/** Removes a file or a folder. */
export async function remove(directory: WrittenDirectory, path: string, ctx: TaskContext): Promise<void> {
  requirePath(path);
  ctx.signal?.throwIfAborted();
  const { folder, name } = splitPath(path);
  const parent = await handlesOf(directory).folder(folder);
  if (parent === undefined || /\p{Cs}/u.test(name)) return;
  await patiently(path, () => removeEntry(parent, name), ctx);
}

/** Removes what was being filled directly below a prefix by threads that have ended. */
export async function removeAbandoned(directory: Pick<WrittenDirectory, "openRoot">, prefix: string, ctx: TaskContext): Promise<void> {
  requirePrefix(prefix);
  ctx.signal?.throwIfAborted();
  const folder = await handlesOf(directory).folder(prefix.slice(0, -1));
  if (folder !== undefined) await unlessAbsent(prefix, removeAbandonedIn(folder));
}

/** Does nothing where there is no such entry, nor can be. */
async function removeEntry(parent: FileSystemDirectoryHandle, name: string): Promise<void> {
  try {
    await parent.removeEntry(name, { recursive: true });
  } catch (cause) {
    if (!isAbsence(cause) && !(cause instanceof TypeError)) throw cause;
  }
}

const handlesOf = (directory: Pick<WrittenDirectory, "openRoot">) => new Handles(() => directory.openRoot(false));
