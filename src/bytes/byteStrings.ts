/** Byte strings, one behind the other in one piece of memory: an array of them would cost many times their bytes. */
export class ByteStrings implements Iterable<Uint8Array> {
  readonly length: number;
  readonly #bytes: Uint8Array;
  readonly #ends: Uint32Array;

  /** `ends`: where in `bytes` each ends, ascending; the first begins at 0. */
  constructor(bytes: Uint8Array, ends: Uint32Array) {
    this.length = ends.length;
    this.#bytes = bytes;
    this.#ends = ends;
  }

  /** Copies them. */
  static of(strings: readonly Uint8Array[]): ByteStrings {
    const ends = new Uint32Array(strings.length);
    let end = 0;
    for (const [index, string] of strings.entries()) {
      end += string.length;
      ends[index] = end;
    }
    const bytes = new Uint8Array(end);
    for (const [index, string] of strings.entries()) bytes.set(string, (ends[index] ?? 0) - string.length);
    return new ByteStrings(bytes, ends);
  }

  /** Bytes of all together. */
  get byteLength(): number {
    return this.#start(this.length);
  }

  /** A view of one of them; empty where there is none. */
  at(index: number): Uint8Array {
    return this.#bytes.subarray(this.#start(index), this.#ends[index]);
  }

  /** Order of one of them and `other` from byte `from` on, as unsigned bytes: negative, 0 or positive. */
  compare(index: number, other: Uint8Array, from = 0): number {
    const bytes = this.#bytes;
    const end = this.#ends[index] ?? 0;
    let left = this.#start(index);
    let right = from;
    while (left < end && right < other.length && bytes[left] === other[right]) {
      left++;
      right++;
    }
    return (left < end ? (bytes[left] ?? 0) : -1) - (right < other.length ? (other[right] ?? 0) : -1);
  }

  *[Symbol.iterator](): Generator<Uint8Array> {
    for (let index = 0; index < this.length; index++) yield this.at(index);
  }

  #start(index: number): number {
    return index === 0 ? 0 : (this.#ends[index - 1] ?? 0);
  }
}
