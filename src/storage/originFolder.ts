import { StorageError } from "../errors.js";
import { type DirectoryReading, directoryReading } from "./directoryHandle.js";
import { directoryWriting } from "./directoryWriting.js";
import { Handles } from "./fileSystem/handles.js";
import { makeFolder } from "./fileSystem/makeFolder.js";
import { requestPersistence, requireRoom } from "./room.js";
import type { ReadableStorage, WritableStorage } from "./storage.js";

/** What of a folder of the origin's private file system is loaded with the first call. */
export type OriginFolder = DirectoryReading & Required<Omit<WritableStorage, keyof ReadableStorage | "locks">>;

/** The folder at a path below the root of the origin's private file system; `name` is what errors call it. */
export function originFolder(path: string, name: string): OriginFolder {
  const known = new Handles(() => openOrigin(name));
  const openRoot = async (create: boolean) => (create ? makeFolder(await openOrigin(name), path) : known.folder(path));
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
  };
}

async function openOrigin(name: string): Promise<FileSystemDirectoryHandle> {
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
