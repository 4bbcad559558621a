import type { FileWriter } from "../fileWriter.js";
import type { FileSink } from "./fileSink.js";

/** Size of the pieces that sinks get unless another is wanted, in bytes; larger ones are no faster. */
export const stagedBytes = 1024 * 1024;

/** One is filled while the other one is written. */
const mostBuffers = 2;

/**
 * Copies what is written into two buffers, which a sink writes meanwhile: few large pieces, whatever the caller's are, and the
 * caller's memory is free at once. What the sink throws comes from a later call.
 */
export class StagedWriter implements Omit<FileWriter, "abort"> {
  readonly #sink: FileSink;
  readonly #pieceLength: number;
  readonly #free: ArrayBuffer[] = [];
  /** Pieces on their way, the oldest first. */
  readonly #flying: Promise<void>[] = [];
  #made = 0;
  #current: ArrayBuffer | undefined;
  #filled = 0;

  /** @param pieceLength of what the sink gets, in bytes. */
  constructor(sink: FileSink, pieceLength = stagedBytes) {
    this.#sink = sink;
    this.#pieceLength = pieceLength;
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      this.#current ??= await this.#take();
      const count = Math.min(this.#current.byteLength - this.#filled, bytes.length - at);
      new Uint8Array(this.#current, this.#filled, count).set(bytes.subarray(at, at + count));
      this.#filled += count;
      at += count;
      if (this.#filled === this.#current.byteLength) this.#send();
    }
  }

  async close(): Promise<void> {
    this.#send();
    for (const piece of this.#flying.splice(0)) await piece;
    await this.#sink.close();
  }

  async #take(): Promise<ArrayBuffer> {
    for (;;) {
      const buffer = this.#free.pop();
      if (buffer !== undefined) return buffer;
      if (this.#made < mostBuffers) {
        this.#made += 1;
        return new ArrayBuffer(this.#pieceLength);
      }
      await this.#flying.shift();
    }
  }

  #send(): void {
    if (this.#current === undefined || this.#filled === 0) return;
    const piece = this.#sink.put(this.#current, this.#filled).then((buffer) => void this.#free.push(buffer));
    piece.catch(() => undefined); // heard when it is waited for
    this.#flying.push(piece);
    this.#current = undefined;
    this.#filled = 0;
  }
}
