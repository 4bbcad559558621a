import { requirePath, requirePrefix } from "./paths.js";
import type { ReadableStorage } from "./storage.js";

/**
 * A folder of a storage as a storage of its own; `""` is the storage itself.
 * @throws CheckpointValueError on a path that no storage takes.
 */
export function subfolder(storage: ReadableStorage, path: string): ReadableStorage {
  if (path === "") return storage;
  requirePath(path);
  const within = (name: string) => {
    requirePath(name);
    return `${path}/${name}`;
  };
  const { stream, handle, snapshot } = storage;
  return {
    name: storage.name === undefined ? path : `${storage.name}/${path}`,
    read: async (name, options) => storage.read(within(name), options),
    list: async (prefix, options) => {
      requirePrefix(prefix);
      return storage.list(`${path}/${prefix}`, options);
    },
    ...(stream && { stream: (name, range, options) => stream.call(storage, within(name), range, options) }),
    ...(handle && { handle: async (name, options) => handle.call(storage, within(name), options) }),
    ...(snapshot && { snapshot: () => subfolder(snapshot.call(storage), path) }),
  };
}
