import type { ByteRange } from "../../../bytes/ranges.js";
import type { ByteSource } from "../../../bytes/source.js";

/** The bytes of a file, or of a run of it: parts are asked for by ascending offset, each when the one before was read. */
export interface StoredBytes {
  /** The bytes of a range, from its first on; the source ends with it. */
  at(range: ByteRange): ByteSource | Promise<ByteSource>;
}

/** A run of bytes that arrives in order: what lies between two parts is left out. */
export class ArrivingBytes implements StoredBytes {
  readonly #next: () => Promise<Uint8Array | undefined>;
  #rest: Uint8Array = new Uint8Array();
  #position: number;

  /** @param start offset of the run in its file. @param next gives the next piece, which is ours until it is called again; undefined at the end. */
  constructor(start: number, next: () => Promise<Uint8Array | undefined>) {
    this.#position = start;
    this.#next = next;
  }

  async at({ offset, length }: ByteRange): Promise<ByteSource> {
    while (this.#position < offset && (await this.#fill())) this.#take(offset - this.#position);
    let left = length;
    const take = (into: Uint8Array) => {
      const count = this.#copy(into, left);
      left -= count;
      return count;
    };
    return { read: (into) => (left === 0 || this.#rest.length > 0 ? take(into) : this.#fill().then(() => take(into))) };
  }

  #copy(into: Uint8Array, most: number): number {
    const bytes = this.#take(Math.min(into.length, most));
    into.set(bytes);
    return bytes.length;
  }

  #take(most: number): Uint8Array {
    const bytes = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(bytes.length);
    this.#position += bytes.length;
    return bytes;
  }

  /** Whether there are bytes, waiting for some where none are left. */
  async #fill(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const piece = await this.#next();
      if (piece === undefined) return false;
      this.#rest = piece;
    }
    return true;
  }
}
