import type { TaskContext } from "../../tasks/context.js";

/** How much of one leaf has arrived. */
export interface LeafProgress {
  /** Adds bytes of the restored array; more than the leaf has are not counted. */
  add(bytes: number): void;
  /** The leaf is complete; what was not counted yet is now. */
  finish(): void;
}

/** Turns bytes of many leaves into progress events: bytes never fall, the last event has all of them, and after an abort there is none. */
export class RestoreProgress {
  readonly #context: TaskContext;
  #stopped = false;
  readonly #totalBytes: number;
  readonly #totalLeaves: number;
  #loadedBytes = 0;
  #leaves = 0;

  constructor(totalBytes: number, totalLeaves: number, context: TaskContext) {
    this.#context = context;
    this.#totalBytes = totalBytes;
    this.#totalLeaves = totalLeaves;
    this.#report("index", "");
  }

  /** Follows one leaf of `byteLength` bytes. */
  leaf(name: string, byteLength: number): LeafProgress {
    let left = byteLength;
    const add = (bytes: number) => {
      const counted = Math.min(bytes, left);
      if (counted === 0) return;
      left -= counted;
      this.#loadedBytes += counted;
      this.#report("arrays", name);
    };
    return {
      add,
      finish: () => {
        this.#leaves += 1;
        this.#loadedBytes += left;
        left = 0;
        this.#report("arrays", name);
      },
    };
  }

  /** Everything stands where it was asked for. */
  done(): void {
    this.#report("done", "");
  }

  /** Reports nothing more: what still runs is of no use to anyone. */
  stop(): void {
    this.#stopped = true;
  }

  #report(phase: "index" | "arrays" | "done", leaf: string): void {
    const { onProgress, signal } = this.#context;
    if (this.#stopped || signal?.aborted) return;
    onProgress?.({
      phase,
      leaf,
      loadedBytes: this.#loadedBytes,
      totalBytes: this.#totalBytes,
      leaves: this.#leaves,
      totalLeaves: this.#totalLeaves,
    });
  }
}
