import type { TaskContext } from "./context.js";

/** Runs work that does several things at once: where it fails, the signal that it was given stops whatever still runs. */
export async function stopTogether<Value>(work: (context: TaskContext) => Promise<Value>, context: TaskContext): Promise<Value> {
  const failure = new AbortController();
  const signal = context.signal === undefined ? failure.signal : AbortSignal.any([context.signal, failure.signal]);
  try {
    return await work({ ...context, signal });
  } catch (error) {
    failure.abort(error);
    throw error;
  }
}
