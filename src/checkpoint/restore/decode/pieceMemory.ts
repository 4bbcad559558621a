import type { PieceSizes } from "./parts.js";

/** The memory of what two threads send each other: a fixed number of pieces, which go out full and come back. */
export class PieceMemory {
  #sizes: PieceSizes;
  #free: ArrayBuffer[] = [];
  /** Pieces that were made and not let go of. */
  #made = 0;
  #waiting: ((buffer: ArrayBuffer) => void) | undefined;

  constructor(sizes: PieceSizes) {
    this.#sizes = sizes;
  }

  /** Lets go of pieces of another size. */
  resize(sizes: PieceSizes): void {
    if (sizes.byteLength !== this.#sizes.byteLength) {
      this.#free = [];
      this.#made = 0;
    }
    this.#sizes = sizes;
  }

  /** Memory for a piece, as soon as there is some. One taker at a time. */
  take(): ArrayBuffer | Promise<ArrayBuffer> {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#made < this.#sizes.count) {
      this.#made += 1;
      return new ArrayBuffer(this.#sizes.byteLength);
    }
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  /** Takes the memory of a piece back. */
  giveBack(buffer: ArrayBuffer): void {
    if (buffer.byteLength !== this.#sizes.byteLength) return;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#free.push(buffer);
    else waiting(buffer);
  }
}
