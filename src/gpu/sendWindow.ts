import { ByteBudget, type Release } from "../tasks/budget.js";
import type { Blame, DeviceWatch } from "./deviceWatch.js";

/** Bytes of a complex128. */
const widestElement = 16;

/**
 * Keeps the bytes that were sent to the device and not yet taken by it within a window. Without one the browser holds a second
 * copy of everything that was written; 16 to 32 MiB cost no time.
 */
export class SendWindow {
  /** Most bytes of one piece; whole elements of any dtype. */
  readonly longestPiece: number;
  readonly #watch: DeviceWatch;
  readonly #budget: ByteBudget;
  #unmarked: Release[] = [];
  #unmarkedBytes = 0;

  constructor(watch: DeviceWatch, bytes: number) {
    this.#watch = watch;
    this.#budget = new ByteBudget(bytes);
    this.longestPiece = Math.floor(bytes / 2 / widestElement) * widestElement;
  }

  /** Waits until `bytes` more may be sent, at most {@link longestPiece}, then makes the calls that send them. */
  async send(bytes: number, blame: Blame, calls: () => void): Promise<void> {
    const release = await this.#watch.wait(this.#budget.acquire(bytes), blame);
    this.#unmarked.push(release);
    this.#unmarkedBytes += bytes;
    this.#watch.throwIfFailed();
    calls();
    if (this.#unmarkedBytes >= this.longestPiece) this.#mark(blame);
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
