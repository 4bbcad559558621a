import { isCheckpointError } from "../../errors.js";
import type { MirrorFolder } from "./mirrorFolder.js";
import { type MirrorProgress, noProgress } from "./progress.js";
import type { Usage } from "./usage.js";

/** What all readings of one mirror share: its folder in the cache, and what they did. */
export class Keeper {
  readonly folder: MirrorFolder;
  readonly usage: Usage | undefined;
  readonly #onProgress: ((progress: MirrorProgress) => void) | undefined;
  #progress = noProgress;
  #stop = new AbortController();
  /** Counts the removals of the mirror: who began before one keeps nothing any more. */
  #life = 0;

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

  async remove(): Promise<void> {
    this.#life += 1;
    this.abort(undefined);
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
