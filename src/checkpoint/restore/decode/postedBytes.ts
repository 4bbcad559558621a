import type { ByteRange } from "../../../bytes/ranges.js";
import type { ByteSource } from "../../../bytes/source.js";
import type { FetchedBody } from "./fetchedBodies.js";
import { ArrivingBytes, type StoredBytes } from "./storedBytes.js";

interface Posted {
  readonly buffer: ArrayBuffer;
  readonly byteLength: number;
  readonly offset: number;
}

/** What is fetched here of a run: the body that goes on at a byte of the file. */
export type FetchedRun = (position: number) => Pick<FetchedBody, "next"> | undefined;

/** Bytes of a run that another thread posts, or that were fetched here; the memory of each message is given back when it was read. */
export class PostedBytes implements StoredBytes {
  readonly #queue: Posted[] = [];
  readonly #giveBack: (buffer: ArrayBuffer) => void;
  readonly #fetched: FetchedRun | undefined;
  readonly #arriving: ArrivingBytes;
  /** Where in the file the next piece begins. */
  #position: number;
  #current: Posted | undefined;
  #ended = false;
  #wake = () => {};

  /** @param start offset in the file of the first byte. */
  constructor(start: number, giveBack: (buffer: ArrayBuffer) => void, fetched?: FetchedRun) {
    this.#giveBack = giveBack;
    this.#fetched = fetched;
    this.#position = start;
    this.#arriving = new ArrivingBytes(start, () => this.#next());
  }

  /** Takes the next message. */
  add(buffer: ArrayBuffer, byteLength: number, offset: number): void {
    this.#queue.push({ buffer, byteLength, offset });
    this.wake();
  }

  /** Something was fetched. */
  wake(): void {
    this.#wake();
  }

  /** Nothing more is posted. */
  end(): void {
    this.#ended = true;
    this.wake();
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
    for (;;) {
      const piece = this.#nextPosted() ?? (await this.#fetched?.(this.#position)?.next());
      this.#position += piece?.length ?? 0;
      if (piece !== undefined) return piece;
      if (this.#fetched?.(this.#position) !== undefined || this.#isNextPosted) continue;
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  get #isNextPosted(): boolean {
    return this.#queue[0]?.offset === this.#position;
  }

  #nextPosted(): Uint8Array | undefined {
    if (!this.#isNextPosted) return undefined;
    this.#current = this.#queue.shift();
    return this.#current && new Uint8Array(this.#current.buffer, 0, this.#current.byteLength);
  }
}
