import { ZstdDamage } from "./damage.js";
import { blockLimit, longestHeader, narrowWindow, parseFrameHeader, type ZstdFrameHeader } from "./frameHeader.js";

type Phase = "header" | "block header" | "block" | "checksum" | "end";

/**
 * Follows the block headers of one zstd frame (RFC 8878, 3.1.1.2) without decoding it. Decoders alone do not tell a
 * frame's end from what follows it, nor how much one piece can grow: this refuses truncated frames, anything behind
 * the frame, and blocks above the format's limit. Its methods throw ZstdDamage.
 */
export class ZstdFrameScanner {
  /** Known once enough bytes were pushed. */
  header: ZstdFrameHeader | undefined;
  /** Fewest and most decoded bytes of the blocks so far. */
  shortest = 0;
  longest = 0;
  readonly #decodedLength: number;
  #phase: Phase = "header";
  /** Bytes of a header that is not complete yet. */
  #partial = new Uint8Array();
  /** Bytes left of the block or the checksum. */
  #left = 0;
  #isLast = false;
  #consumed = 0;

  /** `decodedLength`: most bytes that the frame may decode to; the frame's window is narrowed to it. */
  constructor(decodedLength: number) {
    this.#decodedLength = decodedLength;
  }

  /** Gives the same bytes cut so that none spans the end of a block; views of `piece` but for headers. */
  *push(piece: Uint8Array): Generator<Uint8Array> {
    let rest = piece;
    while (rest.length > 0) {
      const [part, used] = this.#step(rest);
      this.#consumed += used;
      rest = rest.subarray(used);
      if (part.length > 0) yield part;
    }
  }

  /** Throws where the frame is not complete. */
  finish(): void {
    if (this.#phase !== "end") throw this.#corrupt("the rest of a zstd frame", `the end of the data, in a ${this.#phase}`);
  }

  #step(rest: Uint8Array): [part: Uint8Array, used: number] {
    switch (this.#phase) {
      case "header":
        return this.#readHeader(rest);
      case "block header":
        return this.#readBlockHeader(rest);
      case "block":
      case "checksum":
        return this.#passThrough(rest);
      case "end":
        throw this.#corrupt("the end of the zstd frame", "more bytes");
    }
  }

  #readHeader(rest: Uint8Array): [Uint8Array, number] {
    const held = this.#partial.length;
    const candidate = concat(this.#partial, rest.subarray(0, longestHeader - held));
    const header = parseFrameHeader(candidate);
    if (header === undefined) return this.#hold(candidate, held);
    this.header = header;
    this.#partial = new Uint8Array();
    this.#phase = "block header";
    return [narrowWindow(candidate.subarray(0, header.byteLength), header, this.#decodedLength), header.byteLength - held];
  }

  #readBlockHeader(rest: Uint8Array): [Uint8Array, number] {
    const held = this.#partial.length;
    const candidate = concat(this.#partial, rest.subarray(0, 3 - held));
    const [first, second, third] = candidate;
    if (first === undefined || second === undefined || third === undefined) return this.#hold(candidate, held);
    this.#partial = new Uint8Array();
    this.#startBlock(first | (second << 8) | (third << 16));
    return [candidate, 3 - held];
  }

  #startBlock(bits: number): void {
    const limit = this.header === undefined ? 0 : blockLimit(this.header);
    const size = bits >> 3;
    const kind = (["raw", "rle", "compressed", "reserved"] as const)[(bits >> 1) & 3];
    if (kind === undefined || kind === "reserved") throw this.#corrupt("a raw, RLE or compressed block", "a block of the reserved type");
    if (size > limit) throw this.#corrupt(`a block of at most ${limit} bytes`, `${size}`);
    this.#isLast = (bits & 1) === 1;
    this.#left = kind === "rle" ? 1 : size;
    this.shortest += kind === "compressed" ? 0 : size;
    this.longest += kind === "compressed" ? limit : size;
    this.#phase = "block";
    if (this.#left === 0) this.#endBlock();
  }

  #passThrough(rest: Uint8Array): [Uint8Array, number] {
    const part = rest.subarray(0, this.#left);
    this.#left -= part.length;
    if (this.#left === 0) {
      if (this.#phase === "block") this.#endBlock();
      else this.#phase = "end";
    }
    return [part, part.length];
  }

  #endBlock(): void {
    if (!this.#isLast) {
      this.#phase = "block header";
    } else if (this.header?.hasChecksum) {
      this.#phase = "checksum";
      this.#left = 4;
    } else {
      this.#phase = "end";
    }
  }

  #hold(candidate: Uint8Array, held: number): [Uint8Array, number] {
    this.#partial = candidate.slice();
    return [new Uint8Array(), candidate.length - held];
  }

  #corrupt(expected: string, received: string): ZstdDamage {
    return new ZstdDamage(received, { expected, at: this.#consumed });
  }
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
