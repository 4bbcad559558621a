/** Longest run of work between two rests, in milliseconds: half of a frame, so that a page stays smooth, and an abort is heard. */
const longestRun = 8;

/** Small steps between two looks at the clock. */
const smallSteps = 32;

/**
 * Rests for long work that never waits for anything outside, such as the decoding of bytes in memory: promises alone let nothing else
 * have its turn. All parts of the work share one.
 */
export class Pace {
  readonly #signal: AbortSignal | undefined;
  #since = performance.now();
  #resting: Promise<void> | undefined;
  #steps = 0;

  /** @param signal ends the work: a rest rejects with its reason once it aborted. */
  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /** Whether it is time to {@link rest}. */
  get due(): boolean {
    return this.#resting !== undefined || performance.now() - this.#since > longestRun;
  }

  /** As {@link due}, for steps of a few microseconds: looking at the clock takes almost as long, so most of them do not. */
  get dueForSmallStep(): boolean {
    this.#steps = (this.#steps + 1) % smallSteps;
    return this.#steps === 0 && this.due;
  }

  /** Waits until everything else that waited already had its turn. */
  rest(): Promise<void> {
    this.#resting ??= turn().then(() => {
      this.#resting = undefined;
      this.#since = performance.now();
      this.#signal?.throwIfAborted();
    });
    return this.#resting;
  }
}

/**
 * One turn of the event loop, by a message to itself. A timer would take 4 ms, and a second in a hidden tab; `scheduler.yield()` goes on
 * before all timers, messages and answers of the network, so that an abort would not be heard.
 */
function turn(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      // An open port keeps Node running.
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
