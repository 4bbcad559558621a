import { onAbort } from "./onAbort.js";

/**
 * How far a restore is; bytes never fall, and the last event, the only one that says `"done"`, has `loadedBytes === totalBytes`. Totals change only where
 * what is read was replaced meanwhile, and is read once more.
 */
export interface ProgressEvent {
  readonly phase: "index" | "arrays" | "done";
  /** Item and leaf path that moved last; `""` when none did. */
  readonly leaf: string;
  /** Bytes of restored arrays so far, as they are in memory. */
  readonly loadedBytes: number;
  readonly totalBytes: number;
  /** Leaves finished so far. */
  readonly leaves: number;
  readonly totalLeaves: number;
}

/** What every task takes as its last argument. */
export interface TaskContext {
  /** Stops the task; it rejects with the signal's reason, as `fetch` does. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((event: ProgressEvent) => void) | undefined;
}

/** Rejects with the signal's reason as soon as it aborts, whatever `work` does. */
export async function abortable<Value>(work: Promise<Value>, { signal }: TaskContext): Promise<Value> {
  if (signal === undefined) return work;
  // Where the abort came first, nobody is left to hear how the work ends.
  if (signal.aborted) work.catch(() => undefined);
  signal.throwIfAborted();
  let leave = () => {};
  const aborted = new Promise<never>((_, reject) => {
    leave = onAbort(signal, () => reject(signal.reason));
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    leave();
  }
}
