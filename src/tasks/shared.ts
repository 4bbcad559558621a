import { abortable, type TaskContext } from "./context.js";

/** Work that several callers wait for: one that aborts leaves alone, and the last one to leave aborts the work. */
export class SharedTask<Value> {
  readonly #controller = new AbortController();
  readonly #work: Promise<Value>;
  #waiting = 0;
  #settled = false;

  /** Starts the work at once. */
  constructor(work: (signal: AbortSignal) => Promise<Value>) {
    this.#work = work(this.#controller.signal).finally(() => {
      this.#settled = true;
    });
    // Whoever joined hears of a failure; where all have left nobody needs to.
    this.#work.catch(() => undefined);
  }

  /** True when all callers have left before the end: start a new one instead of joining. */
  get abandoned(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Waits for the work; rejects with the signal's reason on abort. */
  async join({ signal }: TaskContext = {}): Promise<Value> {
    this.#waiting += 1;
    try {
      return await abortable(this.#work, { signal });
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0 && !this.#settled) this.#controller.abort(signal?.reason);
    }
  }
}
