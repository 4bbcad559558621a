import { CheckpointValueError, StorageError } from "../errors.js";
import { directoryReading } from "./directoryHandle.js";
import { directoryWriting } from "./directoryWriting.js";
import { Handles } from "./fileSystem/handles.js";
import { makeFolder } from "./fileSystem/makeFolder.js";
import { webLocks } from "./locks/webLocks.js";
import { requirePath } from "./paths.js";
import { requestPersistence, requireRoom } from "./room.js";
import type { WritableStorage } from "./storage.js";

/**
 * A folder of the origin's private file system (OPFS), by its path below the root; `""` is the root. Nothing is touched before the
 * first call, and a folder that is not there is empty, and comes with its first file. Any thread may read and write; workers write fastest,
 * and a page has one of its own for it. `requireRoom` also asks the browser, once, to keep what is stored.
 *
 * Where there is no such file system, as in Node, on a page without https and in some browsers' private windows, calls throw StorageError
 * `"unavailable"` that says what to use instead.
 * @throws CheckpointValueError on a path that no storage takes, and on what is no text.
 */
export function opfsStorage(folder = ""): WritableStorage {
  const path = requireFolder(folder);
  const name = path === "" ? "opfs:" : `opfs:/${path}`;
  const openRoot = async (create: boolean) =>
    create ? makeFolder(await originFolder(name), path) : new Handles(() => originFolder(name)).folder(path);
  return {
    ...directoryReading(name, () => openRoot(false)),
    ...directoryWriting({ openRoot, openSink: async (handle) => (await import("./fileSystem/openSink.js")).openSink(handle) }),
    removeAbandoned: async (prefix, options = {}) => (await import("./directoryChanges.js")).removeAbandoned({ openRoot }, prefix, options),
    async requireRoom(byteLength, { signal } = {}) {
      signal?.throwIfAborted();
      // Some browsers ask their user, who may take any time.
      void requestPersistence();
      await requireRoom(byteLength, name);
    },
    locks: webLocks(name),
  };
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
