import { setTimeout as delay } from "node:timers/promises";

export interface LinkSpeed {
  /** Before an answer's first byte. */
  readonly latencyMs: number;
  readonly bytesPerSecond: number;
}

/** What a link needs of time, in milliseconds. */
export interface Clock {
  now(): number;
  wait(milliseconds: number): Promise<unknown>;
}

const realClock: Clock = { now: () => performance.now(), wait: delay };

/** Timers are not asked for less, in milliseconds: they could not keep it. */
const shortestWait = 2;

/** A slow network, whose bandwidth all answers share. */
export class SharedLink {
  readonly #speed: LinkSpeed;
  readonly #clock: Clock;
  /** When what was sent will have gone through. */
  #freeAt = 0;
  /** By how much the last timer came late, in milliseconds: no fault of the network, so that it is not lost to it. */
  #late = 0;

  constructor(speed: LinkSpeed, clock = realClock) {
    this.#speed = speed;
    this.#clock = clock;
  }

  /** Waits as long as a request's way and its answer's take. */
  async answer(): Promise<void> {
    await this.#clock.wait(this.#speed.latencyMs);
  }

  /** Waits until so many more bytes have gone through; time in which nothing is sent is lost. */
  async pass(byteLength: number): Promise<void> {
    const now = this.#clock.now();
    const until = Math.max(this.#freeAt, now - this.#late) + (byteLength / this.#speed.bytesPerSecond) * 1000;
    this.#freeAt = until;
    if (until - now < shortestWait) return;
    await this.#clock.wait(until - now);
    this.#late = Math.max(0, this.#clock.now() - until);
  }
}
