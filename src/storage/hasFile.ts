import { isCheckpointError } from "../errors.js";
import type { TaskContext } from "../tasks/context.js";
import type { ReadableStorage } from "./storage.js";

/** Of a longer file no more than this is read to see that it is there, in bytes. */
const enough = 64 * 1024;

/**
 * Whether there is a file, which may be long. It is read whole where it is short: servers answer with pages of their own for files that are not
 * there, and only whole ones are told from files.
 * @throws StorageError where the place fails.
 */
export async function hasFile(storage: ReadableStorage, path: string, { signal }: TaskContext): Promise<boolean> {
  try {
    return (await storage.read(path, { longest: enough, signal })) !== undefined;
  } catch (error) {
    if (isCheckpointError(error, "Storage") && error.reason === "length") return true;
    throw error;
  }
}
