import { StorageError, UnsupportedCheckpointError } from "../../errors.js";
import { readStateTree } from "../../pytree/msgpack/readStateTree.js";
import type { StateLeaf } from "../../pytree/msgpack/stateLeaf.js";
import type { TreeNode } from "../../pytree/tree.js";
import { FileWindow } from "../../storage/fileWindow.js";
import type { ReadableStorage } from "../../storage/storage.js";
import type { TaskContext } from "../../tasks/context.js";
import type { Pace } from "../../tasks/pace.js";

// Loaded where an item may have such a file: few checkpoints of today have one.

/** Longest file that is read whole: most hold a tree without arrays. */
const longestWhole = 1024 * 1024;

/** Longest file that is read whole where the place does not tell how long it is. */
const longestUnmeasured = 512 * 1024 * 1024;

/**
 * Reads the tree of a state file; undefined where there is no such file. Of a long one only what stands between its arrays is read.
 * @throws as `readStateTree`, StorageError where the place fails.
 */
export async function openStateFile(
  folder: ReadableStorage,
  path: string,
  pace: Pace,
  context: TaskContext,
): Promise<TreeNode<StateLeaf> | undefined> {
  const window = await openWindow(folder, path, context);
  if (window === undefined) return undefined;
  return readStateTree(window, path, pace);
}

async function openWindow(folder: ReadableStorage, path: string, context: TaskContext): Promise<FileWindow | undefined> {
  const whole = (bytes: Uint8Array) => new FileWindow(folder, path, bytes.length, context, bytes);
  const bytes = await readUpTo(folder, path, longestWhole, context);
  if (bytes !== "longer") return bytes && whole(bytes);
  const size = await folder.size?.(path, context);
  if (size !== undefined) return new FileWindow(folder, path, size, context);
  const unmeasured = await readUpTo(folder, path, longestUnmeasured, context);
  if (unmeasured !== "longer") return unmeasured && whole(unmeasured);
  throw new UnsupportedCheckpointError(
    `${path} has more than ${longestUnmeasured} bytes, and its place does not tell how many; give the storage a method size(path)`,
  );
}

async function readUpTo(
  folder: ReadableStorage,
  path: string,
  longest: number,
  { signal }: TaskContext,
): Promise<Uint8Array | "longer" | undefined> {
  try {
    const bytes = await folder.read(path, { longest, signal });
    return bytes !== undefined && bytes.length > longest ? "longer" : bytes;
  } catch (error) {
    if (error instanceof StorageError && error.reason === "length") return "longer";
    throw error;
  }
}
