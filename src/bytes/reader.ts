import { CorruptCheckpointError } from "../errors.js";

/** Where the bytes that a reader reads come from, for its errors. */
export interface ReaderPlace {
  /** File inside the storage. */
  readonly path: string;
  /** Where in the file the bytes begin, in bytes. */
  readonly offset: number;
  /** True where they were decompressed, so that positions within them are no positions in the file. */
  readonly decompressed?: boolean | undefined;
}

/** A cursor over bytes. Every read is bounded first; reading past the end throws CorruptCheckpointError with file and offset. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #place: ReaderPlace;
  #position = 0;

  constructor(bytes: Uint8Array, place: ReaderPlace) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#place = place;
  }

  /** Bytes read so far. */
  get position(): number {
    return this.#position;
  }

  /** Bytes that are left. */
  get remaining(): number {
    return this.#bytes.length - this.#position;
  }

  /** The next bytes, as a view. */
  bytes(length: number): Uint8Array {
    const start = this.#take(length);
    return this.#bytes.subarray(start, start + length);
  }

  u8(): number {
    return this.#view.getUint8(this.#take(1));
  }

  u32be(): number {
    return this.#view.getUint32(this.#take(4), false);
  }

  u32le(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  i32le(): number {
    return this.#view.getInt32(this.#take(4), true);
  }

  u64le(): bigint {
    return this.#view.getBigUint64(this.#take(8), true);
  }

  /**
   * Unsigned LEB128 of at most `bits` (up to 32) bits. As in riegeli, which TensorStore uses, a value may be written longer
   * than needed, up to the bytes that `bits` can take.
   */
  varint(bits: 16 | 32): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.u8();
      value += (byte & 0x7f) * 2 ** shift;
      if (value >= 2 ** bits || (shift === 28 && byte >= 0x80)) throw this.corrupt(`a varint of ${bits} bits`, "a longer one");
      if (byte < 0x80) return value;
    }
  }

  /** Unsigned LEB128 of 64 bits, at most ten bytes. */
  varint64(): bigint {
    // Most values are small: the first seven groups fit a number exactly.
    let low = 0;
    for (let shift = 0; shift < 49; shift += 7) {
      const byte = this.u8();
      low += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return BigInt(low);
    }
    return BigInt(low) + this.#highGroups();
  }

  /** `count` values as {@link varint} reads each. The caller has bounded `count` by the bytes that are there. */
  varints(bits: 16 | 32, count: number): Uint32Array {
    const values = new Uint32Array(count);
    const bytes = this.#bytes;
    for (let index = 0; index < count; index++) {
      const byte = bytes[this.#position] ?? 0x80;
      if (byte >= 0x80) {
        values[index] = this.varint(bits);
        continue;
      }
      values[index] = byte;
      this.#position += 1;
    }
    return values;
  }

  /** The same of {@link varint64}. */
  varints64(count: number): BigUint64Array {
    const values = new BigUint64Array(count);
    for (let index = 0; index < count; index++) values[index] = this.varint64();
    return values;
  }

  /**
   * A count that was read: at most `most`, and no more than the remaining bytes can hold at `bytesEach` bytes or more each,
   * so that nothing is allocated for entries that cannot be there.
   */
  checkCount(count: number | bigint, what: string, most: number, bytesEach: number): number {
    if (count > most) throw this.corrupt(`at most ${most} ${what}`, `${count}`);
    const number = Number(count);
    if (number * bytesEach > this.remaining) throw this.corrupt(`bytes for ${number} ${what}`, `${this.remaining} bytes`);
    return number;
  }

  /** Throws where bytes are left. */
  end(): void {
    if (this.remaining > 0) throw this.corrupt("the end", `${this.remaining} more bytes`);
  }

  /** An error at the current position. */
  corrupt(expected: string, received: string, cause?: unknown): CorruptCheckpointError {
    const { path, offset, decompressed } = this.#place;
    return decompressed
      ? new CorruptCheckpointError({ path, offset, expected: `${expected} (decompressed byte ${this.#position})`, received, cause })
      : new CorruptCheckpointError({ path, offset: offset + this.#position, expected, received, cause });
  }

  #highGroups(): bigint {
    let value = 0n;
    for (const shift of [49n, 56n, 63n]) {
      const byte = this.u8();
      if (shift === 63n && byte > 1) break;
      value += BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw this.corrupt("a varint of 64 bits", "a longer one");
  }

  #take(length: number): number {
    if (length > this.remaining) throw this.corrupt(`${length} bytes`, `the end after ${this.remaining}`);
    const start = this.#position;
    this.#position += length;
    return start;
  }
}
