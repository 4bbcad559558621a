import type { BlockMemory } from "./blockMemory.js";

/** Most bytes that are written at once: what a place writes whole or not at all. */
const longestWrite = 256 * 1024;

/** Why not all bytes come. */
type End = { readonly kind: "absent" } | { readonly kind: "failed"; readonly error: unknown };

/** Bytes of a range that come in order, for whoever waits for them; nobody writes into what has come. */
export class Arriving {
  /** Bytes that are to come in all. */
  readonly byteLength: number;
  readonly #memory: BlockMemory | undefined;
  #lent: Uint8Array | undefined;
  /** Who brings the bytes, and who reads them. */
  #users = 2;
  #bytes: Uint8Array | undefined;
  #length = 0;
  #end: End | undefined;
  #waiting: (() => void)[] = [];

  /** @param memory Lends the memory; without it, that is the reader's. */
  constructor(byteLength: number, memory?: BlockMemory) {
    this.byteLength = byteLength;
    this.#memory = memory;
  }

  /** To be called by who brings the bytes and by who reads them, each at their end: then lent memory goes back. */
  release(): void {
    this.#users -= 1;
    if (this.#users === 0 && this.#lent !== undefined) this.#memory?.giveBack(this.#lent);
  }

  /** Bytes that have come. */
  get length(): number {
    return this.#length;
  }

  get isWhole(): boolean {
    return this.#length === this.byteLength;
  }

  /** Adds the next bytes, whose memory stays the caller's. */
  add(bytes: Uint8Array): void {
    this.#room().set(bytes, this.#length);
    this.#came(bytes.length);
  }

  /** Adds the next bytes, which nobody changes any more: all at once are not copied. */
  give(bytes: Uint8Array): void {
    if (bytes.length === this.byteLength) this.#bytes = bytes;
    else this.#room().set(bytes, this.#length);
    this.#came(bytes.length);
  }

  /** There is no such file. */
  endAbsent(): void {
    this.#finish({ kind: "absent" });
  }

  /** No more come. Does nothing where all have. */
  fail(error: unknown): void {
    if (!this.isWhole) this.#finish({ kind: "failed", error });
  }

  /** The bytes as they come; `undefined` where there is no such file. */
  async *pieces(): AsyncGenerator<Uint8Array | undefined> {
    for (let at = 0; at < this.byteLength; ) {
      while (at === this.#length && this.#end === undefined) await new Promise<void>((resolve) => this.#waiting.push(resolve));
      if (at === this.#length) return yield this.#without();
      const start = at;
      at = this.#length;
      yield this.#bytes?.subarray(start, at);
    }
  }

  /** Bytes from a position on as they come, in short pieces, and no more where they fail: for those who take what there is. */
  async *from(start: number, length: number): AsyncGenerator<Uint8Array> {
    for (let at = start; at < start + length; ) {
      while (at === this.#length && this.#end === undefined) await new Promise<void>((resolve) => this.#waiting.push(resolve));
      const end = Math.min(this.#length, start + length, at + longestWrite);
      if (at === end || this.#bytes === undefined) return;
      yield this.#bytes.subarray(at, end);
      at = end;
    }
  }

  /** All bytes; `undefined` where there is no such file. */
  async whole(): Promise<Uint8Array | undefined> {
    while (!this.isWhole && this.#end === undefined) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.isWhole ? this.#bytes : this.#without();
  }

  #without(): undefined {
    if (this.#end?.kind === "failed") throw this.#end.error;
    return undefined;
  }

  #room(): Uint8Array {
    if (this.#bytes === undefined) {
      this.#lent = this.#memory?.take(this.byteLength);
      this.#bytes = this.#lent ?? new Uint8Array(this.byteLength);
    }
    return this.#bytes;
  }

  #came(length: number): void {
    this.#length += length;
    this.#wake();
  }

  #finish(end: End): void {
    this.#end ??= end;
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
