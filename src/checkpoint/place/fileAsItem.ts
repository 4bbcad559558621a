import type { ReadableStorage } from "../../storage/storage.js";
import { absentFileError } from "../../storage/streamRange.js";

/** A place in which a file is the folder of an item that holds it as `checkpoint`: what flax's own file is, Orbax's is within an item. */
export function fileAsItem(storage: ReadableStorage, file: string): ReadableStorage {
  const { stream, handle } = storage;
  const isIt = (path: string) => path === `${file}/checkpoint`;
  return {
    ...(storage.name !== undefined && { name: storage.name }),
    read: async (path, options) => (isIt(path) ? storage.read(file, options) : undefined),
    list: async (prefix) => ({ files: prefix === `${file}/` ? ["checkpoint"] : [], directories: prefix === "" ? [file] : [] }),
    ...(stream && {
      stream: (path, range, options) => {
        if (!isIt(path)) throw absentFileError(path, range);
        return stream.call(storage, file, range, options);
      },
    }),
    ...(handle && { handle: async (path, options) => (isIt(path) ? handle.call(storage, file, options) : undefined) }),
  };
}
