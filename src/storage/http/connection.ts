import { abortable } from "../../tasks/context.js";
import { onAbort } from "../../tasks/onAbort.js";
import { TransportError } from "./failures.js";
import { withoutSecrets } from "./secrets.js";

/** One request on its way: stops with its caller, or when no byte comes for too long. */
export class Connection {
  readonly #controller = new AbortController();
  readonly #idleTimeoutMs: number;
  readonly #release: () => void;
  readonly #secrets: readonly string[];
  #caller: AbortSignal | undefined;
  #leave = () => {};
  #closed = false;

  /** `release` is called when the connection is closed; no failure's cause holds one of the `secrets`, which may grow. */
  constructor(idleTimeoutMs: number, release: () => void, secrets: readonly string[]) {
    this.#idleTimeoutMs = idleTimeoutMs;
    this.#release = release;
    this.#secrets = secrets;
  }

  /** What `fetch` takes. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Stops with this signal from now on, and no longer with the one before. */
  follow(caller: AbortSignal | undefined): void {
    this.#leave();
    this.#caller = caller;
    if (caller?.aborted) this.#stop();
    else if (caller !== undefined) this.#leave = onAbort(caller, this.#stop);
  }

  /**
   * Waits for one step of the exchange.
   * @param isTimed false where somebody else sees to it that the step does not take forever.
   * @throws the caller's reason after its abort, else TransportError; the connection is closed then.
   */
  async wait<Value>(step: Promise<Value>, isTimed = true): Promise<Value> {
    // An abort may win the race below; the loser's failure is nobody's then.
    step.catch(() => undefined);
    const late = () => this.#controller.abort(new TransportError(`no byte came for ${this.#idleTimeoutMs} ms`));
    const timer = isTimed ? setTimeout(late, this.#idleTimeoutMs) : undefined;
    try {
      return await abortable(step, this.#controller);
    } catch (error) {
      const caller = this.#caller;
      this.close();
      caller?.throwIfAborted();
      throw error instanceof TransportError
        ? error
        : new TransportError("the request failed", { cause: withoutSecrets(error, this.#secrets) });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the exchange, the first time it is called; `complete` where there is nothing left to stop. */
  close(complete = false): void {
    if (this.#closed) return;
    this.#closed = true;
    this.follow(undefined);
    if (!complete) this.#controller.abort();
    this.#release();
  }

  readonly #stop = () => this.#controller.abort(this.#caller?.reason);
}
