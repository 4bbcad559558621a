import type { WritableStorage } from "../storage.js";
import type { DirectoryLocks } from "./locks.js";
import { threadLocks } from "./threadLocks.js";

const locksByStorage = new WeakMap<object, DirectoryLocks>();

/** The locks of a storage; where it has none, some among all in this thread that use the same object. */
export function locksOf(storage: WritableStorage): DirectoryLocks {
  if (storage.locks !== undefined) return storage.locks;
  const locks = locksByStorage.get(storage) ?? threadLocks();
  locksByStorage.set(storage, locks);
  return locks;
}
