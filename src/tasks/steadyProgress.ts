import type { ProgressEvent, TaskContext } from "./context.js";

/**
 * Runs work that may begin anew: bytes that were loaded stay loaded, and that it is done is told once, when it is.
 * @param undo takes back what was made, where the listener throws or aborts at that last event.
 */
export async function withSteadyProgress<Value, Options extends TaskContext>(
  work: (options: Options) => Promise<Value>,
  options: Options,
  undo: (value: Value) => void,
): Promise<Value> {
  const { onProgress, signal } = options;
  if (onProgress === undefined) return work(options);
  let last: ProgressEvent | undefined;
  let most = 0;
  const tell = (event: ProgressEvent) => {
    most = Math.max(most, event.loadedBytes);
    last = { ...event, loadedBytes: Math.min(most, event.totalBytes) };
    if (event.phase !== "done") onProgress(last);
  };
  const value = await work({ ...options, onProgress: tell });
  try {
    if (last?.phase === "done" && !signal?.aborted) onProgress(last);
    signal?.throwIfAborted();
    return value;
  } catch (error) {
    undo(value);
    throw error;
  }
}
