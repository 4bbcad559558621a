import { isCheckpointError } from "../errors.js";

/** Opens, and once more from the beginning where a file changed meanwhile: what was read before belongs to another version. */
export async function unlessChanged<Value>(open: () => Promise<Value>): Promise<Value> {
  try {
    return await open();
  } catch (error) {
    if (isCheckpointError(error, "Storage") && error.reason === "changed") return open();
    throw error;
  }
}
