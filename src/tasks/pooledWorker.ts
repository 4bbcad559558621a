import { StorageError } from "../errors.js";

/** A worker lent for one job. */
export interface WorkerLease {
  /** Sends it a message; does nothing once the worker has ended or was given back. */
  post(message: unknown, transfer?: Transferable[]): void;
  /** Hears each of its messages, in order, until it is given back; to be called before the first {@link post}. */
  onMessage(listener: (message: unknown) => void): void;
  /** Rejects with a StorageError `"worker"` when the worker ends or breaks while it is lent; never resolves. */
  readonly broken: Promise<never>;
  /**
   * Gives it back. `finished`: its job came to its end and it says nothing more of it, so it takes the next one; otherwise it is ended,
   * and replaced when somebody waits. Further calls do nothing.
   */
  release(finished: boolean): void;
}

/** What a pool hears of one of its workers. */
export interface WorkerEvents {
  /** Its script has loaded and said so. */
  ready(worker: PooledWorker): void;
  /** It could not be started, or broke; it has been ended. */
  broken(worker: PooledWorker): void;
  /** It was given back. */
  released(worker: PooledWorker, finished: boolean): void;
}

interface Loan {
  listener: ((message: unknown) => void) | undefined;
  fail: (error: unknown) => void;
}

/**
 * A worker from its start to its end. It can be lent once its first message, `{ kind: "ready" }`, has come; one that does not say so within
 * `startMs` milliseconds breaks.
 */
export class PooledWorker {
  readonly #worker: Worker;
  readonly #events: WorkerEvents;
  #loan: Loan | undefined;
  #ready = false;
  #ended = false;
  #startTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(worker: Worker, startMs: number, events: WorkerEvents) {
    this.#worker = worker;
    this.#events = events;
    // In two halves: a thread that was busy all the time hears the message between them.
    this.#startTimer = setTimeout(() => {
      this.#startTimer = setTimeout(() => this.#giveUp(startMs), startMs / 2);
    }, startMs / 2);
    worker.addEventListener("message", ({ data }) => this.#hear(data));
    worker.addEventListener("error", (event) => this.#break(event, event.message));
    worker.addEventListener("messageerror", (event) => this.#break(event, "a message could not be read"));
  }

  get ready(): boolean {
    return this.#ready;
  }

  lend(): WorkerLease {
    const loan: Loan = { listener: undefined, fail: () => {} };
    const broken = new Promise<never>((_, reject) => {
      loan.fail = reject;
    });
    broken.catch(() => {}); // it is a failure only for those who wait
    const lent = () => this.#loan === loan;
    this.#loan = loan;
    return {
      broken,
      post: (message, transfer = []) => {
        if (lent()) this.#worker.postMessage(message, transfer);
      },
      onMessage: (listener) => {
        loan.listener = listener;
      },
      release: (finished) => {
        if (!lent()) return;
        this.#loan = undefined;
        this.#events.released(this, finished);
      },
    };
  }

  /** Stops it at once; whoever has it hears that it broke. */
  end(detail?: string): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#startTimer);
    this.#worker.terminate();
    this.#loan?.fail(workerError(detail));
    this.#loan = undefined;
  }

  #hear(message: unknown): void {
    if (this.#ended) return;
    if (this.#ready) {
      this.#loan?.listener?.(message);
    } else if ((message as { readonly kind?: unknown } | null)?.kind === "ready") {
      this.#ready = true;
      clearTimeout(this.#startTimer);
      this.#events.ready(this);
    }
  }

  #break(event: Event, detail: string | undefined): void {
    event.preventDefault(); // else it is reported as the page's own error too
    if (this.#ended) return;
    this.end(detail);
    this.#events.broken(this);
  }

  #giveUp(startMs: number): void {
    this.end(`it was not ready after ${startMs} ms`);
    this.#events.broken(this);
  }
}

const workerError = (detail: string | undefined) =>
  new StorageError({
    path: "",
    reason: "worker",
    message: `a worker ended unexpectedly while it read, decoded or wrote${detail ? ` (${detail})` : ""}; try again`,
  });
