import { CorruptCheckpointError } from "../errors.js";

/**
 * Waits for work below a folder and names damaged files by their path from the storage's root. What a storage itself found damaged has
 * that path already.
 */
export async function withFolder<Value>(folder: string, work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof CorruptCheckpointError) || error.path.startsWith(`${folder}/`)) throw error;
    const { path, offset, expected, received, cause } = error;
    throw new CorruptCheckpointError({ path: `${folder}/${path}`, offset, expected, received, cause: cause ?? error });
  }
}
