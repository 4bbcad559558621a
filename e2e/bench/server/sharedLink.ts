import { setTimeout as delay } from "node:timers/promises";

export interface LinkSpeed {
  /** Before an answer's first byte. */
  readonly latencyMs: number;
  readonly bytesPerSecond: number;
}

/** Timers are not asked for less, in milliseconds: they could not keep it. */
const shortestWait = 2;

/** A slow network, whose bandwidth all answers share. */
export class SharedLink {
  readonly speed: LinkSpeed;
  /** When what was sent will have gone through, on the clock of `performance.now()`. */
  #freeAt = 0;
  /** By how much the last timer came late: no fault of the network, so that it is not lost to it. */
  #late = 0;

  constructor(speed: LinkSpeed) {
    this.speed = speed;
  }

  /** Waits until so many more bytes have gone through; time in which nothing is sent is lost. */
  async pass(byteLength: number): Promise<void> {
    const now = performance.now();
    this.#freeAt = Math.max(this.#freeAt, now - this.#late) + (byteLength / this.speed.bytesPerSecond) * 1000;
    const until = this.#freeAt;
    if (until - now < shortestWait) return;
    await delay(until - now);
    this.#late = Math.max(0, performance.now() - until);
  }
}
