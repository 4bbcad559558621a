import { aText, requireArgument } from "../arguments.js";
import { withCheckedOptions } from "./checkedOptions.js";
import type { DirectoryReading } from "./directoryHandle.js";
import { webLocks } from "./locks/webLocks.js";
import type { OriginFolder } from "./originFolder.js";
import { requirePath } from "./paths.js";
import type { ReadableStorage, WritableStorage } from "./storage.js";

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
  let place: OriginFolder | undefined;
  // A page that only reads over HTTP does not load the code of this.
  const opened = async (): Promise<OriginFolder> => {
    const { originFolder } = await import("./originFolder.js");
    place ??= originFolder(path, name);
    return place;
  };
  return withCheckedOptions<WritableStorage>({
    ...readingOf(name, opened),
    create: async (...call) => (await opened()).create(...call),
    write: async (...call) => (await opened()).write(...call),
    move: async (...call) => (await opened()).move(...call),
    remove: async (...call) => (await opened()).remove(...call),
    removeAbandoned: async (...call) => (await opened()).removeAbandoned(...call),
    requireRoom: async (...call) => (await opened()).requireRoom(...call),
    locks: webLocks(name),
  });
}

const readingOf = (name: string, opened: () => Promise<DirectoryReading>): ReadableStorage => ({
  name,
  read: async (...call) => (await opened()).read(...call),
  list: async (...call) => (await opened()).list(...call),
  size: async (...call) => (await opened()).size(...call),
  handle: async (...call) => (await opened()).handle(...call),
  async *stream(...call) {
    yield* (await opened()).stream(...call);
  },
  snapshot() {
    let pinned: DirectoryReading | undefined;
    return readingOf(name, async () => {
      const folder = await opened();
      pinned ??= folder.snapshot();
      return pinned;
    });
  },
});

/** The path without the slashes around it. */
function requireFolder(folder: string): string {
  requireArgument("what opfsStorage takes", folder, { ...aText, expected: "a folder's path as text, such as runs/digits" });
  const path = folder.replace(/^\//, "").replace(/\/$/, "");
  if (path !== "") requirePath(path);
  return path;
}
