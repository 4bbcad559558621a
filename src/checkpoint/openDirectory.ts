import { checkedStorage } from "../storage/checked.js";
import { type CheckpointDirectory, directoryName, storageOf, writableRoot } from "./directory.js";
import type { WritableRoot } from "./save/writableRoot.js";
import { lockedAccess, plainAccess, type StepAccess } from "./stepAccess.js";

/** What a store works with while it is open. */
export interface OpenedDirectory {
  readonly access: StepAccess;
  /** Undefined where the directory can only be read. */
  readonly root: WritableRoot | undefined;
}

/** Opens the place that a directory stands for; touches nothing. */
export function openDirectory(directory: CheckpointDirectory): OpenedDirectory {
  const storage = storageOf(directory);
  const root = writableRoot(storage, directoryName(directory));
  return root === undefined ? { access: plainAccess(checkedStorage(storage)), root } : { access: lockedAccess(root), root };
}
