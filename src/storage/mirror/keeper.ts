import { isCheckpointError } from "../../errors.js";
import { ByteBudget } from "../../tasks/budget.js";
import type { MirrorFolder } from "./mirrorFolder.js";
import { type MirrorProgress, noProgress } from "./progress.js";
import type { Usage } from "./usage.js";

/** Most bytes of all readings that are fetched and not yet written. */
const mostUnwritten = 16 * 1024 * 1024;

/** What all readings of one mirror share: its folder in the cache, and what they did. */
export class Keeper {
  readonly folder: MirrorFolder;
  readonly usage: Usage | undefined;
  /** What is fetched and not yet written: a source may be faster than the cache. */
  readonly unwritten = new ByteBudget(mostUnwritten);
  readonly #onProgress: ((progress: MirrorProgress) => void) | undefined;
  #progress = noProgress;
  #stop = new AbortController();
  /** Counts the removals of the mirror: who began before one keeps nothing any more. */
  #life = 0;
  /** Parts of files that are fetched or written now. */
  readonly #underWay = new Set<Promise<unknown>>();
  /** Those of them that have come, and were handed on before they are kept. */
  readonly #arrived = new Set<Promise<unknown>>();

  constructor(folder: MirrorFolder, usage: Usage | undefined, onProgress: ((progress: MirrorProgress) => void) | undefined) {
    this.folder = folder;
    this.usage = usage;
    this.#onProgress = onProgress;
  }

  get progress(): MirrorProgress {
    return this.#progress;
  }

  get life(): number {
    return this.#life;
  }

  tell(change: Partial<MirrorProgress>): void {
    this.#progress = { ...this.#progress, ...change };
    this.#onProgress?.(this.#progress);
  }

  /** Aborts with the given signal, and with {@link abort}. */
  signalWith(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined ? this.#stop.signal : AbortSignal.any([signal, this.#stop.signal]);
  }

  abort(reason: unknown): void {
    this.#stop.abort(reason);
    this.#stop = new AbortController();
  }

  /** Notes work that fetches and keeps. */
  working(work: Promise<unknown>): void {
    noteWhile(this.#underWay, work);
  }

  /** Notes that something has come, and is handed on before it is kept. @returns to be called when it is, or cannot be. */
  arrived(): () => void {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    noteWhile(this.#arrived, ended);
    return end;
  }

  /** Waits until what has come so far is kept, or cannot be. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#arrived);
  }

  async remove(): Promise<void> {
    this.#life += 1;
    this.abort(undefined);
    await Promise.allSettled(this.#underWay);
    await this.folder.remove();
    this.tell({ problem: undefined });
  }

  /** What work with the cache gives; undefined where it failed, which is told and never fails a read. */
  async attempt<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
    try {
      return await work();
    } catch (cause) {
      const problem = cause instanceof Error ? cause : new Error(String(cause));
      // That the cache is full says most.
      if (!isCheckpointError(this.#progress.problem, "Storage") || this.#progress.problem.reason !== "quota") this.tell({ problem });
      return undefined;
    }
  }
}

function noteWhile(noted: Set<Promise<unknown>>, work: Promise<unknown>): void {
  const done = () => noted.delete(work);
  noted.add(work);
  work.then(done, done);
}
