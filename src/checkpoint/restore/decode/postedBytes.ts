import type { ByteRange } from "../../../bytes/ranges.js";
import type { ByteSource } from "../../../bytes/source.js";
import { ArrivingBytes, type StoredBytes } from "./storedBytes.js";

interface Posted {
  readonly buffer: ArrayBuffer;
  readonly byteLength: number;
}

/** Bytes of a run that another thread posts; the memory of each message is given back when it was read. */
export class PostedBytes implements StoredBytes {
  readonly #queue: Posted[] = [];
  readonly #giveBack: (buffer: ArrayBuffer) => void;
  readonly #arriving: ArrivingBytes;
  #current: Posted | undefined;
  #ended = false;
  #wake = () => {};

  /** @param start offset in the file of the first byte that is posted. */
  constructor(start: number, giveBack: (buffer: ArrayBuffer) => void) {
    this.#giveBack = giveBack;
    this.#arriving = new ArrivingBytes(start, () => this.#next());
  }

  /** Takes the next message. */
  add(buffer: ArrayBuffer, byteLength: number): void {
    this.#queue.push({ buffer, byteLength });
    this.#wake();
  }

  /** Nothing more is posted. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Gives all memory back that is still here. */
  close(): void {
    for (const { buffer } of [...(this.#current === undefined ? [] : [this.#current]), ...this.#queue.splice(0)]) this.#giveBack(buffer);
    this.#current = undefined;
  }

  at(range: ByteRange): Promise<ByteSource> {
    return this.#arriving.at(range);
  }

  async #next(): Promise<Uint8Array | undefined> {
    if (this.#current !== undefined) this.#giveBack(this.#current.buffer);
    this.#current = undefined;
    while (this.#queue.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#current = this.#queue.shift();
    return this.#current && new Uint8Array(this.#current.buffer, 0, this.#current.byteLength);
  }
}
