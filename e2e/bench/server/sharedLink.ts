import { setTimeout as delay } from "node:timers/promises";

export interface LinkSpeed {
  /** Before an answer's first byte. */
  readonly latencyMs: number;
  readonly bytesPerSecond: number;
}

/** Timers come late by about a millisecond, so the link may send so much earlier than it should, on average never. */
const slackMs = 4;

/** A slow network, whose bandwidth all answers share. */
export class SharedLink {
  readonly speed: LinkSpeed;
  #freeAt = 0;

  constructor(speed: LinkSpeed) {
    this.speed = speed;
  }

  /** Waits until so many more bytes have gone through. */
  async pass(byteLength: number): Promise<void> {
    const now = performance.now();
    this.#freeAt = Math.max(this.#freeAt, now - slackMs) + (byteLength / this.speed.bytesPerSecond) * 1000;
    if (this.#freeAt - now > slackMs) await delay(this.#freeAt - now);
  }
}
