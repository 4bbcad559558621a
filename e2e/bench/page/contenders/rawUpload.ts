import type { SetDescription } from "../protocol.js";
import { ArrayBuffers } from "./arrayBuffers.js";

const mebibyte = 2 ** 20;
/** Bytes that a piece of a raw file has. */
export const pieceBytes = 4 * mebibyte;
/** Most bytes that the device has not acknowledged. */
const windowBytes = 32 * mebibyte;

/** Writes the pieces of a raw file, in order, into the buffers of its arrays. */
export class RawUpload {
  readonly loaded: ArrayBuffers;
  readonly #device: GPUDevice;
  readonly #arrays: SetDescription["arrays"];
  #array = 0;
  #at = 0;
  #unsent = 0;
  #earlier: Promise<unknown> = Promise.resolve();

  constructor(device: GPUDevice, { arrays }: SetDescription) {
    this.#device = device;
    this.#arrays = arrays;
    this.loaded = new ArrayBuffers(device);
  }

  /** The next bytes of the file; they are copied before this returns. */
  async write(piece: Uint8Array<ArrayBufferLike>): Promise<void> {
    for (let from = 0; from < piece.byteLength; ) from += this.#writePart(piece.subarray(from));
    this.#unsent += piece.byteLength;
    if (this.#unsent >= windowBytes / 2) await this.#wait();
  }

  #writePart(bytes: Uint8Array<ArrayBufferLike>): number {
    const array = this.#arrays[this.#array];
    if (array === undefined) throw new Error("the raw file is longer than its arrays");
    const size = Math.min(bytes.byteLength, array.byteLength - this.#at);
    this.#device.queue.writeBuffer(this.loaded.of(array), this.#at, bytes as Uint8Array<ArrayBuffer>, 0, size);
    this.#at += size;
    if (this.#at === array.byteLength) {
      this.#array += 1;
      this.#at = 0;
    }
    return size;
  }

  /** Waits for the half of the window before the last one. */
  async #wait(): Promise<void> {
    this.#unsent = 0;
    this.#device.queue.submit([]); // frees what the device has taken
    const earlier = this.#earlier;
    this.#earlier = this.#device.queue.onSubmittedWorkDone();
    await earlier;
  }
}
