import { CorruptCheckpointError, UnsupportedCheckpointError } from "../../errors.js";

/**
 * Waits for work below a folder and names files in errors by their path from the storage's root. What a storage itself found damaged has
 * that path already.
 */
export async function withFolder<Value>(folder: string, work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    throw fromRoot(folder, error);
  }
}

/** The same of values that come one by one. */
export async function* eachWithFolder<Value>(folder: string, values: AsyncIterable<Value>): AsyncGenerator<Value> {
  try {
    yield* values;
  } catch (error) {
    throw fromRoot(folder, error);
  }
}

function fromRoot(folder: string, error: unknown): unknown {
  if (folder === "") return error;
  if (error instanceof UnsupportedCheckpointError && !error.message.startsWith(folder)) {
    return new UnsupportedCheckpointError(`${folder}: ${error.message}`, { cause: error });
  }
  if (!(error instanceof CorruptCheckpointError) || error.path.startsWith(`${folder}/`)) return error;
  const { path, offset, expected, received, advice, cause } = error;
  return new CorruptCheckpointError({ path: `${folder}/${path}`, offset, expected, received, advice, cause: cause ?? error });
}
