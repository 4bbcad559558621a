/** Files that were taken whole, so that later ranges cost no request; the longest unused go when `limit` bytes are passed. */
export class WholeFiles {
  readonly #limit: number;
  // In the order of use, as a Map keeps it.
  readonly #files = new Map<string, Uint8Array>();
  #byteLength = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Bytes kept now. */
  get byteLength(): number {
    return this.#byteLength;
  }

  get(path: string): Uint8Array | undefined {
    const bytes = this.#files.get(path);
    if (bytes === undefined) return undefined;
    this.#files.delete(path);
    this.#files.set(path, bytes);
    return bytes;
  }

  /** Keeps a file, unless it alone is over the limit. */
  keep(path: string, bytes: Uint8Array): void {
    this.#drop(path);
    if (bytes.byteLength > this.#limit) return;
    this.#files.set(path, bytes);
    this.#byteLength += bytes.byteLength;
    for (const oldest of this.#files.keys()) {
      if (this.#byteLength <= this.#limit) return;
      this.#drop(oldest);
    }
  }

  #drop(path: string): void {
    this.#byteLength -= this.#files.get(path)?.byteLength ?? 0;
    this.#files.delete(path);
  }
}
