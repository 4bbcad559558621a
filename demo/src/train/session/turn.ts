const lockName = "orbax-webgpu-demo-training";

/** The right to train, which one tab has. */
export interface Turn {
  /** Resolves once another tab may train. */
  readonly released: Promise<void>;
}

/**
 * Makes this tab the one that trains, until the signal.
 * @param wait whether to wait until no other tab does; else undefined where one does.
 */
export function takeTurn(wait: boolean, signal: AbortSignal): Promise<Turn | undefined> {
  // Pages without https have none, and no files either.
  const { locks } = navigator as { readonly locks?: LockManager };
  if (locks === undefined) return Promise.resolve({ released: Promise.resolve() });
  const ended = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  return new Promise((resolve, reject) => {
    const hold = async (lock: Lock | null) => {
      resolve(lock === null ? undefined : { released });
      if (lock !== null) await ended;
    };
    const released = Promise.resolve(locks.request(lockName, wait ? { signal } : { ifAvailable: true }, hold)).then(() => undefined);
    released.catch(reject);
  });
}
