import { WaitingLine } from "../../tasks/waitingLine.js";
import type { DirectoryLocks, LockRequest } from "./locks.js";

/** Locks among those who share an object in one thread, such as a storage in memory. */
export function threadLocks(): DirectoryLocks {
  const locks = new Map<string, SharedLock>();
  return {
    async hold(name, request, work) {
      const lock = locks.get(name) ?? new SharedLock();
      locks.set(name, lock);
      const release = await lock.acquire(request);
      if (release === undefined) return undefined;
      try {
        return { value: await work() };
      } finally {
        release();
      }
    },
  };
}

/** One lock: who holds it, and who waits. */
class SharedLock {
  readonly #held: LockRequest["mode"][] = [];
  readonly #line = new WaitingLine<LockRequest["mode"]>(
    (mode) => (mode === "exclusive" ? this.#held.length === 0 : !this.#held.includes("exclusive")),
    (mode) => void this.#held.push(mode),
  );

  /** @returns what gives the lock back; undefined where it is not free and the request does not wait. */
  async acquire({ mode, wait, signal }: LockRequest): Promise<(() => void) | undefined> {
    signal?.throwIfAborted();
    if (wait) await this.#line.take(mode, { signal });
    else if (!this.#line.tryTake(mode)) return undefined;
    return () => {
      this.#held.splice(this.#held.indexOf(mode), 1);
      this.#line.serve();
    };
  }
}
