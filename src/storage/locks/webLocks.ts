import type { DirectoryLocks } from "./locks.js";
import { threadLocks } from "./threadLocks.js";

/**
 * Locks among all tabs and workers of the origin, which a tab that ends frees; where the browser has none, among those in this thread.
 * @param directory names what is locked, within the origin.
 */
export function webLocks(directory: string): DirectoryLocks {
  return {
    async hold(name, { mode, wait, signal }, work) {
      signal?.throwIfAborted();
      // Not everywhere, whatever the types say: pages without https have none.
      const locks = (globalThis.navigator as Partial<Navigator> | undefined)?.locks as LockManager | undefined;
      if (locks === undefined) return locksHere(directory).hold(name, { mode, wait, signal }, work);
      // The platform takes no signal beside `ifAvailable`.
      const options: LockOptions = wait ? { mode, ...(signal && { signal }) } : { mode, ifAvailable: true };
      return locks.request(`orbax-webgpu ${name} ${directory}`, options, async (lock) =>
        lock === null ? undefined : { value: await work() },
      );
    },
  };
}

const here = new Map<string, DirectoryLocks>();

/** By name, so that all who name one directory share its locks. */
export function locksHere(directory: string): DirectoryLocks {
  const locks = here.get(directory) ?? threadLocks();
  here.set(directory, locks);
  return locks;
}
