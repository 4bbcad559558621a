import { onAbort } from "../../tasks/onAbort.js";

/** Time and chance, so that tests can have their own. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** From 0 up to 1. */
  random(): number;
  /** Rejects with the signal's reason on abort. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The platform's time and chance. */
export const systemClock: Clock = {
  now: Date.now,
  random: Math.random,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      let leave = () => {};
      const timer = setTimeout(() => {
        leave();
        resolve();
      }, ms);
      if (signal === undefined) return;
      leave = onAbort(signal, () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    }),
};

/** What is known of a failure that may pass. */
export interface PassingFailure {
  /** The error, given how often it was tried. */
  readonly error: (tries: number) => Error;
  /** What the server asked to wait, in milliseconds. */
  readonly retryAfter?: number | undefined;
  /** Bytes that arrived before. */
  readonly progress?: number | undefined;
}

const firstWait = 250;
const longestWait = 8_000;
const longestRetryAfter = 30_000;
const realProgress = 64 * 1024;

/** The tries of one read. */
export class Attempts {
  readonly #retries: number;
  readonly #clock: Clock;
  #failures = 0;

  constructor(retries: number, clock: Clock) {
    this.#retries = retries;
    this.#clock = clock;
  }

  /**
   * Waits before the next try: a random time that doubles in its bound from 250 ms to 8 s, and at least what the server asked for (at
   * most 30 s). A try that brought 64 KiB starts the count again.
   * @throws the failure's error where no try is left, the signal's reason on abort.
   */
  async failed({ error, retryAfter, progress = 0 }: PassingFailure, signal?: AbortSignal): Promise<void> {
    if (progress >= realProgress) this.#failures = 0;
    this.#failures += 1;
    if (this.#failures > this.#retries) throw error(this.#failures);
    const bound = Math.min(longestWait, firstWait * 2 ** (this.#failures - 1));
    const asked = Math.min(retryAfter ?? 0, longestRetryAfter);
    await this.#clock.sleep(Math.max(asked, this.#clock.random() * bound), signal);
  }
}

/** Milliseconds of a Retry-After header, which holds seconds or an HTTP date; `undefined` where it holds neither. */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\s*\d+\s*$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
