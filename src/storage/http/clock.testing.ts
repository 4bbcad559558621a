import type { Clock } from "./retry.js";

/** A clock whose sleeps are recorded instead of slept, in milliseconds. */
export function testClock(random = 0.5): Clock & { readonly sleeps: number[] } {
  const sleeps: number[] = [];
  return {
    sleeps,
    now: () => Date.UTC(2026, 0, 1),
    random: () => random,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      sleeps.push(ms);
    },
  };
}
