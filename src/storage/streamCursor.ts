/** Most bytes that are allocated before the first has come. */
const longestFirst = 1024 * 1024;

/** Takes runs of bytes out of a stream, one after the other, and holds no more of it than the piece that came last. */
export class StreamCursor {
  readonly #stream: AsyncIterator<Uint8Array>;
  readonly #tooShort: () => Error;
  /** What of the last piece was not taken yet. */
  #rest: Uint8Array = new Uint8Array();
  #position = 0;

  /** `tooShort` makes the error for a stream that ends before the bytes asked for. */
  constructor(stream: AsyncIterable<Uint8Array>, tooShort: () => Error) {
    this.#stream = stream[Symbol.asyncIterator]();
    this.#tooShort = tooShort;
  }

  /** Bytes taken or left out so far. */
  get position(): number {
    return this.#position;
  }

  /** The next `length` bytes as they come; a piece is the caller's until the next one is asked for. */
  async *pieces(length: number): AsyncGenerator<Uint8Array> {
    for (const end = this.#position + length; this.#position < end; ) yield await this.#next(end - this.#position);
  }

  /** The next `length` bytes, copied. Nothing is allocated for bytes that do not come. */
  async take(length: number): Promise<Uint8Array> {
    let bytes = new Uint8Array(Math.min(length, longestFirst));
    for (let filled = 0; filled < length; ) {
      const piece = await this.#next(length - filled);
      if (filled + piece.byteLength > bytes.byteLength) bytes = grown(bytes, Math.min(length, 2 * (filled + piece.byteLength)));
      bytes.set(piece, filled);
      filled += piece.byteLength;
    }
    return bytes;
  }

  /** Leaves out what comes before a position. */
  async skipTo(position: number): Promise<void> {
    while (this.#position < position) await this.#next(position - this.#position);
  }

  /** Gives the stream up. */
  async close(): Promise<void> {
    await this.#stream.return?.();
  }

  /** From 1 to `most` bytes. */
  async #next(most: number): Promise<Uint8Array> {
    while (this.#rest.byteLength === 0) {
      const { done, value } = await this.#stream.next();
      if (done) throw this.#tooShort();
      this.#rest = value;
    }
    const piece = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(piece.byteLength);
    this.#position += piece.byteLength;
    return piece;
  }
}

function grown(bytes: Uint8Array, byteLength: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(byteLength);
  larger.set(bytes);
  return larger;
}
