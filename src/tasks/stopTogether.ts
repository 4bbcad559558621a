import { abortable, type TaskContext } from "./context.js";

/**
 * Runs work that does several things at once: where it fails, the signal that it was given stops whatever still runs. On abort it is left
 * behind, not waited for.
 */
export async function stopTogether<Value>(work: (context: TaskContext) => Promise<Value>, context: TaskContext): Promise<Value> {
  const failure = new AbortController();
  const signal = context.signal === undefined ? failure.signal : AbortSignal.any([context.signal, failure.signal]);
  try {
    context.signal?.throwIfAborted();
    return await abortable(work({ ...context, signal }), context);
  } catch (error) {
    failure.abort(error);
    throw error;
  }
}
