import { isCheckpointError } from "../errors.js";

/** Opens, and once more from the beginning where a file changed meanwhile: what was read before belongs to another version. */
export async function unlessChanged<Value>(open: () => Promise<Value>): Promise<Value> {
  try {
    return await open();
  } catch (error) {
    if (isChanged(error)) return open();
    throw error;
  }
}

/** Whether a file turned out to be of another version than what was read before. */
export const isChanged = (error: unknown): boolean => isCheckpointError(error, "Storage") && error.reason === "changed";
