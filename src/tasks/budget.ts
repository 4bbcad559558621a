import type { TaskContext } from "./context.js";
import { WaitingLine } from "./waitingLine.js";

/** Gives bytes back to the budget: so many of those that are still held, or all of them. */
export type Release = (bytes?: number) => void;

/** Keeps the bytes that are in flight at once within a limit; waiters are served in the order they came. */
export class ByteBudget {
  /** Most bytes in flight at once, in bytes. */
  readonly limit: number;
  #used = 0;
  #peak = 0;
  readonly #line = new WaitingLine<number>(
    (bytes) => this.#used + bytes <= this.limit,
    (bytes) => this.#take(bytes),
  );

  constructor(limit: number) {
    if (!Number.isSafeInteger(limit) || limit < 1) throw new RangeError(`a byte budget is a positive integer, not ${limit}`);
    this.limit = limit;
  }

  /** Most bytes that were in flight at once so far. */
  get peak(): number {
    return this.#peak;
  }

  /** Bytes in flight now. */
  get used(): number {
    return this.#used;
  }

  /** Takes `bytes` where they fit at once and nobody waits for room; undefined otherwise. */
  tryAcquire(bytes: number): Release | undefined {
    return this.#line.tryTake(bytes) ? this.#releaseOf(bytes) : undefined;
  }

  /** Waits until `bytes` fit. Throws a RangeError where they never could, and the signal's reason on abort. */
  async acquire(bytes: number, { signal }: TaskContext = {}): Promise<Release> {
    if (bytes > this.limit) throw new RangeError(`${bytes} bytes never fit into a budget of ${this.limit}`);
    await this.#line.take(bytes, { signal });
    return this.#releaseOf(bytes);
  }

  #releaseOf(bytes: number): Release {
    let held = bytes;
    return (given = held) => {
      const back = Math.min(given, held);
      if (back === 0) return;
      held -= back;
      this.#used -= back;
      this.#line.serve();
    };
  }

  #take(bytes: number): void {
    this.#used += bytes;
    this.#peak = Math.max(this.#peak, this.#used);
  }
}
