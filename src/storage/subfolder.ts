import { keepsStreams, keptStreamOf } from "./keptStream.js";
import { requirePath, requirePrefix } from "./paths.js";
import type { ReadableStorage, WritableStorage } from "./storage.js";
import { isWritable } from "./writable.js";

/**
 * A folder of a storage as a storage of its own, writable where that is; `""` is the storage itself.
 * @throws CheckpointValueError on a path that no storage takes.
 */
export function subfolder(storage: WritableStorage, path: string): WritableStorage;
export function subfolder(storage: ReadableStorage, path: string): ReadableStorage;
export function subfolder(storage: ReadableStorage, path: string): ReadableStorage {
  if (path === "") return storage;
  requirePath(path);
  const within = (name: string) => {
    requirePath(name);
    return `${path}/${name}`;
  };
  const { size, stream, handle, snapshot } = storage;
  const kept = keptStreamOf(storage);
  const folder: ReadableStorage = {
    name: storage.name === undefined ? path : `${storage.name}/${path}`,
    read: async (name, options) => storage.read(within(name), options),
    list: async (prefix, options) => {
      requirePrefix(prefix);
      return storage.list(`${path}/${prefix}`, options);
    },
    ...(size && { size: async (name, options) => size.call(storage, within(name), options) }),
    ...(stream && { stream: (name, range, options) => stream.call(storage, within(name), range, options) }),
    ...(handle && { handle: async (name, options) => handle.call(storage, within(name), options) }),
    ...(snapshot && { snapshot: () => subfolder(snapshot.call(storage), path) }),
    ...(isWritable(storage) && writingBelow(storage, within)),
  };
  return keepsStreams(folder, kept && ((name, range, options) => kept(within(name), range, options)));
}

function writingBelow(storage: WritableStorage, within: (name: string) => string): Omit<WritableStorage, keyof ReadableStorage> {
  const { requireRoom, removeAbandoned } = storage;
  return {
    create: async (name, options) => storage.create(within(name), options),
    write: async (name, bytes, options) => storage.write(within(name), bytes, options),
    move: async (from, to, options) => storage.move(within(from), within(to), options),
    remove: async (name, options) => storage.remove(within(name), options),
    ...(requireRoom && { requireRoom: async (byteLength, options) => requireRoom.call(storage, byteLength, options) }),
    ...(removeAbandoned && {
      removeAbandoned: async (prefix, options) => {
        requirePrefix(prefix);
        return removeAbandoned.call(storage, `${within("x").slice(0, -1)}${prefix}`, options);
      },
    }),
  };
}
