import { aText, requireArgument } from "../arguments.js";
import { StorageError } from "../errors.js";
import { aDirectoryHandle } from "./fileSystem/directoryRule.js";

/**
 * Keeps the handle of a folder that the user picked, by a name of your own, beyond the page's life; `undefined` forgets it. The browser
 * asks its user again before a later page may use it, on a click.
 * @throws StorageError `"unavailable"` where the browser keeps nothing, as in some private windows.
 * @throws CheckpointValueError for what is no name, or no directory's handle.
 */
export async function rememberDirectory(name: string, handle: FileSystemDirectoryHandle | undefined): Promise<void> {
  requireArgument("the name that rememberDirectory takes", name, aText);
  if (handle !== undefined) requireArgument("what rememberDirectory keeps", handle, aDirectoryHandle);
  const { del, set, store } = await handles();
  try {
    await (handle === undefined ? del(name, store) : set(name, handle, store));
  } catch (cause) {
    throw unavailable(cause);
  }
}

/** The handle that {@link rememberDirectory} kept; undefined where there is none, and where the browser keeps nothing. */
export async function recallDirectory(name: string): Promise<FileSystemDirectoryHandle | undefined> {
  requireArgument("the name that recallDirectory takes", name, aText);
  try {
    const { get, store } = await handles();
    return await get<FileSystemDirectoryHandle>(name, store);
  } catch {
    return undefined;
  }
}

/** The calls, and the database that they take. */
async function handles() {
  const { createStore, del, get, set } = await import("idb-keyval");
  try {
    return { del, get, set, store: createStore("orbax-webgpu", "directories") };
  } catch (cause) {
    throw unavailable(cause);
  }
}

const unavailable = (cause: unknown): StorageError =>
  new StorageError({
    path: "",
    reason: "unavailable",
    message: "the browser does not keep the folder's handle, as in some private windows; let the user pick it again next time",
    cause,
  });
