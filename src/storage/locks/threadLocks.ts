import { onAbort } from "../../tasks/onAbort.js";
import type { DirectoryLocks, LockRequest } from "./locks.js";

/** Locks among those who share an object in one thread, such as a storage in memory. */
export function threadLocks(): DirectoryLocks {
  const queues = new Map<string, LockQueue>();
  return {
    async hold(name, request, work) {
      const queue = queues.get(name) ?? new LockQueue();
      queues.set(name, queue);
      const release = await queue.acquire(request);
      if (release === undefined) return undefined;
      try {
        return { value: await work() };
      } finally {
        release();
      }
    },
  };
}

/** One lock: who holds it, and who waits, first come, first served. */
class LockQueue {
  readonly #held: LockRequest["mode"][] = [];
  readonly #waiting: { readonly mode: LockRequest["mode"]; readonly grant: () => void }[] = [];

  /** @returns what gives the lock back; undefined where it is not free and the request does not wait. */
  async acquire({ mode, wait, signal }: LockRequest): Promise<(() => void) | undefined> {
    signal?.throwIfAborted();
    if (this.#waiting.length === 0 && this.#admits(mode)) this.#held.push(mode);
    else if (!wait) return undefined;
    else await this.#wait(mode, signal);
    return () => {
      this.#held.splice(this.#held.indexOf(mode), 1);
      this.#serve();
    };
  }

  #admits(mode: LockRequest["mode"]): boolean {
    return mode === "exclusive" ? this.#held.length === 0 : !this.#held.includes("exclusive");
  }

  #wait(mode: LockRequest["mode"], signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      let leave = () => {};
      const waiter = {
        mode,
        grant: () => {
          leave();
          this.#held.push(mode);
          resolve();
        },
      };
      this.#waiting.push(waiter);
      if (signal === undefined) return;
      leave = onAbort(signal, () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(signal.reason);
        this.#serve();
      });
    });
  }

  #serve(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#admits(next.mode); next = this.#waiting[0]) {
      this.#waiting.shift();
      next.grant();
    }
  }
}
