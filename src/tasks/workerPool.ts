import type { TaskContext } from "./context.js";
import { onAbort } from "./onAbort.js";
import { PooledWorker, type WorkerLease } from "./pooledWorker.js";

export type { WorkerLease } from "./pooledWorker.js";

/** How a pool makes its workers, and how many it keeps. */
export interface PoolOptions {
  /** Starts a worker, whose first message is `{ kind: "ready" }`; may throw where there are none. */
  readonly createWorker: () => Worker;
  /** Most workers at once. */
  readonly size: number;
  /** How long a worker without a job is kept, in milliseconds. */
  readonly idleMs: number;
  /** How long a worker may take to say that it is ready, in milliseconds (10 s): one that never does must not hold up those who wait. */
  readonly startMs?: number | undefined;
}

const longestStartMs = 10_000;

/**
 * Workers that several tasks share: started when a job needs one, lent in the order that jobs ask, ended when idle. Where one cannot be
 * started none is tried again; when none is left, those who ask hear that there are none.
 */
export class WorkerPool {
  /** Most workers at once. */
  readonly size: number;
  readonly #options: PoolOptions;
  readonly #workers = new Set<PooledWorker>();
  /** With the timers that end them. */
  readonly #idle = new Map<PooledWorker, ReturnType<typeof setTimeout>>();
  readonly #waiting = new Set<(lease: WorkerLease | undefined) => void>();
  #startable = true;
  #started = 0;
  #ended = 0;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.size = options.size;
  }

  /** Whether somebody waits for a worker: who has one for long may give it back between two parts of his work. */
  get isAwaited(): boolean {
    return this.#waiting.size > 0;
  }

  /** Workers started so far, those that failed to load included. */
  get started(): number {
    return this.#started;
  }

  /** Workers ended so far, for whatever reason. */
  get ended(): number {
    return this.#ended;
  }

  /** Starts workers ahead of the first job, up to `count` of them in all. */
  warm(count: number = this.size): void {
    while (this.#startable && this.#workers.size < Math.min(count, this.size)) this.#start();
  }

  /**
   * Lends a worker, when one is free. Throws the signal's reason on abort.
   * @returns undefined where workers cannot be started here: a content security policy, another origin's script, no workers at all.
   */
  async acquire({ signal }: TaskContext = {}): Promise<WorkerLease | undefined> {
    signal?.throwIfAborted();
    const idle = [...this.#idle.keys()].at(-1); // the one used last, so that the others come to their end
    if (idle === undefined) return this.#wait(signal);
    this.#unidle(idle);
    return idle.lend();
  }

  /** Ends all workers. Nobody gets one from then on. */
  close(): void {
    this.#startable = false;
    for (const worker of this.#workers) {
      worker.end("it was stopped");
      this.#forget(worker);
    }
    this.#serve();
  }

  #wait(signal: AbortSignal | undefined): Promise<WorkerLease | undefined> {
    return new Promise((resolve, reject) => {
      let leave = () => {};
      const waiter = (lease: WorkerLease | undefined) => {
        this.#waiting.delete(waiter);
        leave();
        resolve(lease);
      };
      if (signal !== undefined) {
        leave = onAbort(signal, () => {
          this.#waiting.delete(waiter);
          reject(signal.reason);
        });
      }
      this.#waiting.add(waiter);
      this.#serve();
    });
  }

  /** Starts workers for those who wait; tells them where there will be none. */
  #serve(): void {
    let coming = [...this.#workers].filter(({ ready }) => !ready).length;
    for (; this.#startable && this.#workers.size < this.size && coming < this.#waiting.size; coming++) this.#start();
    if (this.#startable || this.#workers.size > 0) return;
    for (const waiter of this.#waiting) waiter(undefined);
  }

  #start(): void {
    const { createWorker, startMs = longestStartMs } = this.#options;
    try {
      const worker = new PooledWorker(createWorker(), startMs, {
        ready: (ready) => this.#lendOrKeep(ready),
        broken: (broken) => this.#replace(broken),
        released: (released, finished) => (finished ? this.#lendOrKeep(released) : this.#replace(released)),
      });
      this.#workers.add(worker);
      this.#started += 1;
    } catch {
      this.#startable = false;
    }
  }

  #lendOrKeep(worker: PooledWorker): void {
    const [waiter] = this.#waiting;
    if (waiter !== undefined) {
      waiter(worker.lend());
      return;
    }
    const timer: ReturnType<typeof setTimeout> & { unref?: () => void } = setTimeout(() => this.#replace(worker), this.#options.idleMs);
    timer.unref?.(); // a Node process may end before it
    this.#idle.set(worker, timer);
  }

  #unidle(worker: PooledWorker): void {
    clearTimeout(this.#idle.get(worker));
    this.#idle.delete(worker);
  }

  /** Ends a worker, and starts another one where somebody waits. */
  #replace(worker: PooledWorker): void {
    if (!worker.ready) this.#startable = false;
    worker.end();
    this.#forget(worker);
    this.#serve();
  }

  #forget(worker: PooledWorker): void {
    this.#unidle(worker);
    this.#workers.delete(worker);
    this.#ended += 1;
  }
}
