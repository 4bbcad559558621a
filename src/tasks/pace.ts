/** Longest run of work between two rests, in milliseconds: a page stays usable, and an abort is heard. */
const longestRun = 50;

/**
 * Rests for long work that never waits for anything outside, such as the decoding of bytes in memory: promises alone let nothing else
 * have its turn. All parts of the work share one.
 */
export class Pace {
  #since = performance.now();
  #resting: Promise<void> | undefined;

  /** Whether it is time to {@link rest}. */
  get due(): boolean {
    return this.#resting !== undefined || performance.now() - this.#since > longestRun;
  }

  /** Waits until everything else had its turn. */
  rest(): Promise<void> {
    this.#resting ??= new Promise((resolve) => {
      setTimeout(() => {
        this.#resting = undefined;
        this.#since = performance.now();
        resolve();
      });
    });
    return this.#resting;
  }
}
