import type { DirectoryLocks } from "../../storage/locks/locks.js";
import type { WritableStorage } from "../../storage/storage.js";

/** A directory that steps are written into. */
export interface WritableRoot {
  readonly storage: WritableStorage;
  readonly locks: DirectoryLocks;
  /** Names it in errors and markers. */
  readonly name: string;
}

/** Locks by name: one writes, and those who read share what tidying takes alone. */
export const writersLock = "writer";
export const readersLock = "readers";
