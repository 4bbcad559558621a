import { isCheckpointError } from "../errors.js";
import type { TaskContext } from "../tasks/context.js";
import type { ReadableStorage } from "./storage.js";

/**
 * Whether there is a file, which may be long: one byte tells. An empty one has none to give.
 * @throws StorageError where the place fails.
 */
export async function hasFile(storage: ReadableStorage, path: string, { signal }: TaskContext): Promise<boolean> {
  try {
    return (await storage.read(path, { range: { offset: 0, length: 1 }, signal })) !== undefined;
  } catch (error) {
    if (isCheckpointError(error, "Storage") && error.reason === "length") return true;
    throw error;
  }
}
