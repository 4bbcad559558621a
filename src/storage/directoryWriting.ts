import { writeWhole } from "./fileWriter.js";
import type { WritableStorage } from "./storage.js";
import type { WrittenDirectory } from "./writtenDirectory.js";

/**
 * Changes the files of a folder. What somebody has open is waited for, for two seconds or so. A page that only reads does not load the
 * code of this.
 */
export function directoryWriting(directory: WrittenDirectory): Pick<WritableStorage, "create" | "write" | "move" | "remove"> {
  const changes = () => import("./directoryChanges.js");
  const create: WritableStorage["create"] = async (path, options = {}) => (await changes()).create(directory, path, options);
  return {
    create,
    write: async (path, bytes, options) => writeWhole(create(path, options), bytes),
    move: async (from, to, options = {}) => (await changes()).move(directory, from, to, options),
    remove: async (path, options = {}) => (await changes()).remove(directory, path, options),
  };
}
