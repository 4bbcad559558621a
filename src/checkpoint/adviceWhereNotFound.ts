import { longestJson } from "../bytes/json.js";
import { StorageError } from "../errors.js";
import type { ReadableStorage } from "../storage/storage.js";
import type { TaskContext } from "../tasks/context.js";
import { formatName } from "./record/format.js";

/** Most steps that a message lists. */
const mostListed = 10;

/**
 * What to do where a step was not found, for its error: most often the directory is another one than the root.
 * @param steps those in the root; undefined where it cannot be listed.
 */
export async function adviceWhereNotFound(
  root: ReadableStorage,
  step: number,
  steps: readonly number[] | undefined,
  context: TaskContext,
): Promise<string> {
  if (steps !== undefined && steps.length > 0) return `it holds ${listed(steps)}`;
  const textOf = async (path: string) => {
    try {
      const bytes = await root.read(path, { longest: longestJson, signal: context.signal });
      return bytes && new TextDecoder().decode(bytes);
    } catch (error) {
      // Looking around is a courtesy: where it fails, the error is still that there is no such step.
      if (error instanceof StorageError) return undefined;
      throw error;
    }
  };
  const [record, item, below] = await Promise.all(["metadata/metadata", "_METADATA", `checkpoints/${step}/metadata/metadata`].map(textOf));
  // Orbax up to 0.9 keeps what a manager was given in a root's file of the same name.
  if (record?.includes(formatName)) return "the directory is a step itself: give the folder above it";
  if (item !== undefined) return "the directory is an item of a step: give the folder two levels above it";
  if (below !== undefined) return `the folder "checkpoints" in it holds step ${step}: give that one`;
  const problem = steps === undefined ? "check the step and the address" : "it holds no steps";
  return `${problem}: give the folder that holds the folder "${step}"`;
}

function listed(steps: readonly number[]): string {
  const last = steps.slice(-mostListed);
  const text = last.length > 1 ? `${last.slice(0, -1).join(", ")} and ${last.at(-1)}` : `${last[0]}`;
  if (steps.length > last.length) return `${steps.length} steps, the last are ${text}`;
  return steps.length > 1 ? `steps ${text}` : `step ${text}`;
}
