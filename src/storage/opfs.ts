import { CheckpointValueError, StorageError } from "../errors.js";
import { directoryReading } from "./directoryHandle.js";
import { Handles } from "./fileSystem/handles.js";
import { requirePath } from "./paths.js";
import type { ReadableStorage } from "./storage.js";

/**
 * A folder of the origin's private file system (OPFS), by its path below the root; `""` is the root. Nothing is touched before the
 * first call, and a folder that is not there is empty. Any thread may read.
 *
 * Where there is no such file system, as in Node, on a page without https and in some browsers' private windows, calls throw StorageError
 * `"unavailable"` that says what to use instead.
 * @throws CheckpointValueError on a path that no storage takes, and on what is no text.
 */
export function opfsStorage(folder = ""): ReadableStorage {
  const path = requireFolder(folder);
  const name = path === "" ? "opfs:" : `opfs:/${path}`;
  return directoryReading(name, () => new Handles(() => originFolder(name)).folder(path));
}

/** The path without the slashes around it. */
function requireFolder(folder: string): string {
  if (typeof folder !== "string") throw new CheckpointValueError("opfsStorage needs a folder's path as text, such as runs/digits");
  const path = folder.replace(/^\//, "").replace(/\/$/, "");
  if (path !== "") requirePath(path);
  return path;
}

async function originFolder(name: string): Promise<FileSystemDirectoryHandle> {
  // Neither is everywhere, whatever the types say.
  const storage = (globalThis.navigator as Partial<Navigator> | undefined)?.storage as Partial<StorageManager> | undefined;
  if (storage?.getDirectory === undefined) throw unavailable(name, whyAbsent());
  try {
    return await storage.getDirectory();
  } catch (cause) {
    const why = "the browser does not give its private file system (OPFS) to this page, as in some private windows and sandboxed frames";
    throw unavailable(name, `${why}; use an ordinary window, an http(s) URL, or memoryStorage(files)`, cause);
  }
}

function whyAbsent(): string {
  const { process, isSecureContext } = globalThis as { readonly process?: NodeProcess; readonly isSecureContext?: boolean };
  if (process?.versions?.node !== undefined)
    return 'a folder on disk is opened with nodeStorage(directory) from "orbax-webgpu/node"; pass that to the store';
  return isSecureContext === false
    ? "the browser's private file system (OPFS) needs a secure page; serve it over https or from localhost"
    : "this browser has no private file system (OPFS); use another one, an http(s) URL, or memoryStorage(files)";
}

/** What of Node's `process` is asked for; absent in browsers. */
interface NodeProcess {
  readonly versions?: { readonly node?: string };
}

const unavailable = (path: string, message: string, cause?: unknown): StorageError =>
  new StorageError({ path, reason: "unavailable", message, cause });
