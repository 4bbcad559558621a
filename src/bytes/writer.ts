/** Appends to a buffer that grows; the mirror of `ByteReader`. Throws a RangeError for values that do not fit their field. */
export class ByteWriter {
  #bytes = new Uint8Array(256);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  /** All that was written, as a view that later writes may detach from the writer. */
  toBytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  bytes(bytes: Uint8Array): void {
    const start = this.#add(bytes.length);
    this.#bytes.set(bytes, start);
  }

  u8(value: number): void {
    checkRange(value, 2 ** 8);
    const at = this.#add(1);
    this.#view.setUint8(at, value);
  }

  u32be(value: number): void {
    checkRange(value, 2 ** 32);
    const at = this.#add(4);
    this.#view.setUint32(at, value, false);
  }

  u32le(value: number): void {
    checkRange(value, 2 ** 32);
    const at = this.#add(4);
    this.#view.setUint32(at, value, true);
  }

  i32le(value: number): void {
    checkRange(value + 2 ** 31, 2 ** 32);
    const at = this.#add(4);
    this.#view.setInt32(at, value, true);
  }

  u64le(value: bigint): void {
    checkRange64(value);
    const at = this.#add(8);
    this.#view.setBigUint64(at, value, true);
  }

  /** Unsigned LEB128 of at most `bits` bits, in as few bytes as it takes. */
  varint(value: number, bits: 16 | 32): void {
    checkRange(value, 2 ** bits);
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 128)) this.u8((rest & 0x7f) | 0x80);
    this.u8(rest);
  }

  /** Unsigned LEB128 of 64 bits, in as few bytes as it takes. */
  varint64(value: bigint): void {
    checkRange64(value);
    let rest = value;
    for (; rest >= 0x80n; rest >>= 7n) this.u8(Number(rest & 0x7fn) | 0x80);
    this.u8(Number(rest));
  }

  /** Makes room for `length` bytes and gives where they begin; the buffer and its view may be new ones after it. */
  #add(length: number): number {
    const start = this.#length;
    this.#length += length;
    if (this.#length > this.#bytes.length) this.#grow();
    return start;
  }

  #grow(): void {
    const larger = new Uint8Array(Math.max(this.#length, 2 * this.#bytes.length));
    larger.set(this.#bytes);
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}

function checkRange(value: number, end: number): void {
  if (!Number.isInteger(value) || value < 0 || value >= end) throw new RangeError(`${value} does not fit a field that ends at ${end}`);
}

function checkRange64(value: bigint): void {
  if (value !== BigInt.asUintN(64, value)) throw new RangeError(`${value} does not fit 64 bits`);
}
