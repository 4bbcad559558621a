import type { TaskContext } from "./context.js";
import { onAbort } from "./onAbort.js";

interface Waiter<Request> {
  readonly request: Request;
  readonly grant: () => void;
}

/** Those who wait for their part of something that is shared: first come, first served. */
export class WaitingLine<Request> {
  readonly #fits: (request: Request) => boolean;
  readonly #give: (request: Request) => void;
  readonly #waiting: Waiter<Request>[] = [];

  /**
   * @param fits whether a request could be granted now.
   * @param give grants it.
   */
  constructor(fits: (request: Request) => boolean, give: (request: Request) => void) {
    this.#fits = fits;
    this.#give = give;
  }

  /** Grants a request where it fits at once and nobody waits; false otherwise. */
  tryTake(request: Request): boolean {
    if (this.#waiting.length > 0 || !this.#fits(request)) return false;
    this.#give(request);
    return true;
  }

  /** Waits until a request is granted. Throws the signal's reason on abort. */
  async take(request: Request, { signal }: TaskContext = {}): Promise<void> {
    signal?.throwIfAborted();
    if (!this.tryTake(request)) await this.#wait(request, signal);
  }

  /** Grants what fits now; to be called when something was given back. */
  serve(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#fits(next.request); next = this.#waiting[0]) {
      this.#waiting.shift();
      next.grant();
    }
  }

  #wait(request: Request, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      let leave = () => {};
      const waiter = {
        request,
        grant: () => {
          leave();
          this.#give(request);
          resolve();
        },
      };
      this.#waiting.push(waiter);
      if (signal === undefined) return;
      leave = onAbort(signal, () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(signal.reason);
        this.serve();
      });
    });
  }
}
