import { blockLength } from "./extents.js";

const mostIdle = 6;

/** Memory of blocks that were read as pieces, to be used again: each would be garbage of its size. */
export class BlockMemory {
  readonly #idle: ArrayBuffer[] = [];

  /** Memory for so many bytes; short ones are not worth it. */
  take(byteLength: number): Uint8Array {
    if (byteLength <= blockLength / 2) return new Uint8Array(byteLength);
    return new Uint8Array(this.#idle.pop() ?? new ArrayBuffer(blockLength), 0, byteLength);
  }

  /** Takes memory back that nobody uses any more. */
  giveBack({ buffer }: Uint8Array): void {
    if (buffer instanceof ArrayBuffer && buffer.byteLength === blockLength && this.#idle.length < mostIdle) this.#idle.push(buffer);
  }
}
