interface Waiting {
  readonly callbacks: Set<() => void>;
  readonly stop: () => void;
}

const waitings = new WeakMap<AbortSignal, Waiting>();

/**
 * Calls back when the signal aborts, which it has not yet. All who wait for one signal share one listener: hundreds of reads may, and Node
 * takes more than ten listeners for a leak and warns.
 * @returns what takes the callback away.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const { callbacks, stop } = waitings.get(signal) ?? listenTo(signal);
  // A function of its own, so that one callback may wait twice.
  const entry = () => callback();
  callbacks.add(entry);
  return () => {
    callbacks.delete(entry);
    if (callbacks.size > 0) return;
    signal.removeEventListener("abort", stop);
    waitings.delete(signal);
  };
}

function listenTo(signal: AbortSignal): Waiting {
  const callbacks = new Set<() => void>();
  const stop = () => {
    waitings.delete(signal);
    // One may send another away.
    for (const callback of [...callbacks]) if (callbacks.has(callback)) callback();
  };
  const waiting = { callbacks, stop };
  waitings.set(signal, waiting);
  signal.addEventListener("abort", stop, { once: true });
  return waiting;
}
