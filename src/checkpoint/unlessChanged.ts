import { isCheckpointError, type StorageError } from "../errors.js";

/**
 * Reads, and once more where a file changed meanwhile: what was read before belongs to another version.
 * @param anew reads from the beginning; the same unless given.
 */
export async function unlessChanged<Value>(read: () => Promise<Value>, anew: () => Promise<Value> = read): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    if (isChanged(error)) return anew();
    throw error;
  }
}

/** Errors of what was read again and again already. */
const lastWords = new WeakSet<StorageError>();

/** The error, for which {@link unlessChanged} does not read once more. */
export function afterManyTries(error: StorageError): StorageError {
  lastWords.add(error);
  return error;
}

/** Whether a file turned out to be of another version than what was read before. */
const isChanged = (error: unknown): boolean => isCheckpointError(error, "Storage") && error.reason === "changed" && !lastWords.has(error);
