import { ByteBudget, type Release } from "../tasks/budget.js";
import type { Blame } from "./blame.js";
import type { DeviceWatch } from "./deviceWatch.js";

/** Bytes of a complex128. */
const widestElement = 16;

/**
 * Keeps the bytes that were sent to the device and not yet taken by it within a window. Without one the browser holds a second
 * copy of everything that was written, and `writeBuffer` blocks: Chromium passes data below 4 MiB on by way of 16 MiB of shared
 * memory, and waits for room there.
 */
export class SendWindow {
  /** Most bytes that are sent at once; whole elements of any dtype. */
  readonly longestBatch: number;
  readonly #watch: DeviceWatch;
  readonly #budget: ByteBudget;
  #unmarked: Release[] = [];
  #unmarkedBytes = 0;

  constructor(watch: DeviceWatch, bytes: number) {
    this.#watch = watch;
    this.#budget = new ByteBudget(bytes);
    this.longestBatch = Math.floor(bytes / 2 / widestElement) * widestElement;
  }

  /**
   * Makes the calls that send `bytes`, at most {@link longestBatch}: at once where the window has room and nobody waits, else when
   * the promise resolves. Throws what failed the watch.
   */
  send(bytes: number, blame: Blame, calls: () => void): Promise<void> | void {
    const release = this.#budget.tryAcquire(bytes);
    if (release === undefined) return this.#sendLater(bytes, blame, calls);
    this.#sendNow(release, bytes, blame, calls);
  }

  async #sendLater(bytes: number, blame: Blame, calls: () => void): Promise<void> {
    this.#sendNow(await this.#watch.wait(this.#budget.acquire(bytes), blame), bytes, blame, calls);
  }

  #sendNow(release: Release, bytes: number, blame: Blame, calls: () => void): void {
    this.#unmarked.push(release);
    this.#unmarkedBytes += bytes;
    this.#watch.throwIfFailed();
    calls();
    if (this.#unmarkedBytes >= this.longestBatch) this.#mark(blame);
  }

  /** Waits until the device has taken all that was sent. */
  async drain(blame: Blame): Promise<void> {
    const { queue } = this.#watch.device;
    queue.submit([]);
    await this.#watch.wait(queue.onSubmittedWorkDone(), blame);
  }

  /** Submits nothing, which also frees the browser's copies, and gives the bytes back when the device has come that far. */
  #mark(blame: Blame): void {
    const releases = this.#unmarked;
    this.#unmarked = [];
    this.#unmarkedBytes = 0;
    const release = () => {
      for (const each of releases) each();
    };
    this.drain(blame).then(release, () => {}); // a failure is the watch's: it ends every wait
  }
}
