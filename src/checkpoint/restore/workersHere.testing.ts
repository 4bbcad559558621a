import { AsyncLocalStorage } from "node:async_hooks";
import { vi } from "vitest";
import { WorkerPool } from "../../tasks/workerPool.js";
import type { FileShare, ToWorker } from "./decode/messages.js";

const current = new AsyncLocalStorage<WorkerHere>();
let made = 0;

type Listener = (event: { readonly data: ToWorker }) => void;

/** The workers' own script, run on this thread; messages are handed over, not copied. */
class WorkerHere extends EventTarget {
  /** What it was told, in order. */
  readonly told: ToWorker[] = [];
  readonly #beforeTold: (message: ToWorker) => unknown;
  #listener: Listener = () => {};
  #isEnded = false;

  constructor(beforeTold: (message: ToWorker) => unknown) {
    super();
    this.#beforeTold = beforeTold;
    vi.stubGlobal("addEventListener", (_: string, listener: Listener) => current.getStore()?.listen(listener));
    vi.stubGlobal("postMessage", (data: unknown) => current.getStore()?.hear(data));
    // A module for each, whose own modules they share.
    void current.run(this, () => import(/* @vite-ignore */ `./decode/chunkWorker.ts?here=${made++}`));
  }

  listen(listener: Listener): void {
    this.#listener = listener;
  }

  hear(data: unknown): void {
    setTimeout(() => this.#isEnded || this.dispatchEvent(new MessageEvent("message", { data })));
  }

  postMessage(data: ToWorker): void {
    this.#beforeTold(data);
    this.told.push(data);
    setTimeout(() => current.run(this, () => this.#isEnded || this.#listener({ data })));
  }

  terminate(): void {
    this.#isEnded = true;
  }

  /** The shares of files that it was given, in order. */
  get shares(): FileShare[] {
    return this.told.flatMap((message) => {
      if (message.kind === "decode" && !("start" in message.job)) return [message.job];
      return message.kind === "share" && message.share !== undefined ? [message.share] : [];
    });
  }
}

/** A pool of such workers; the caller unstubs globals. `beforeTold` runs before a worker hears a message. */
export function workersHere(size: number, beforeTold: (message: ToWorker) => unknown = () => {}) {
  const workers: WorkerHere[] = [];
  const createWorker = () => {
    const worker = new WorkerHere(beforeTold);
    workers.push(worker);
    return worker as unknown as Worker; // a pool calls nothing else of one
  };
  return { pool: new WorkerPool({ createWorker, size, idleMs: 60_000 }), workers };
}
