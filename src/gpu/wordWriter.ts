import { wholeWords } from "./limits.js";

/** Mask of a word of which all four bytes are there. */
const complete = 0b1111;

/** A 32-bit word of which some bytes came: the word, little endian, with zeros elsewhere, and a mask whose bit `i` stands for byte `i`. */
interface PartialWord {
  bits: number;
  mask: number;
}

/**
 * Writes runs of bytes anywhere in a buffer, though WebGPU writes only whole 32-bit words at multiples of four: words of which
 * some bytes are still to come wait for them. So runs may come in any order, each byte once, and need not be aligned.
 */
export class WordWriter {
  readonly #write: (offset: number, bytes: Uint8Array) => void;
  readonly #partial = new Map<number, PartialWord>();

  /** `write` takes whole words; bytes between `byteLength` and the next word are written as zeros. */
  constructor(byteLength: number, write: (offset: number, bytes: Uint8Array) => void) {
    this.#write = write;
    const padding = wholeWords(byteLength) - byteLength;
    if (padding > 0) this.#merge(byteLength, new Uint8Array(padding));
  }

  /** Words that wait for some of their bytes. */
  get waiting(): number {
    return this.#partial.size;
  }

  /** Writes a run of bytes; they may be reused when this returns. */
  write(offset: number, bytes: Uint8Array): void {
    if (offset % 4 === 0 && bytes.byteLength % 4 === 0) {
      if (bytes.byteLength > 0) this.#write(offset, bytes);
      return;
    }
    const head = Math.min(bytes.byteLength, wholeWords(offset) - offset);
    const words = Math.floor((bytes.byteLength - head) / 4) * 4;
    if (head > 0) this.#merge(offset, bytes.subarray(0, head));
    if (words > 0) this.#write(offset + head, bytes.subarray(head, head + words));
    if (head + words < bytes.byteLength) this.#merge(offset + head + words, bytes.subarray(head + words));
  }

  /** Writes the words that still wait, zeros where bytes are missing. */
  flush(): void {
    for (const [offset, { bits }] of this.#partial) this.#write(offset, bytesOf(bits));
    this.#partial.clear();
  }

  /** Adds bytes that lie within one word. */
  #merge(offset: number, bytes: Uint8Array): void {
    const start = offset % 4;
    const word = offset - start;
    const partial = this.#partial.get(word) ?? { bits: 0, mask: 0 };
    for (const [index, byte] of bytes.entries()) {
      partial.bits |= byte << (8 * (start + index));
      partial.mask |= 1 << (start + index);
    }
    this.#partial.set(word, partial);
    if (partial.mask !== complete) return;
    this.#partial.delete(word);
    this.#write(word, bytesOf(partial.bits));
  }
}

const bytesOf = (bits: number) => Uint8Array.of(bits, bits >>> 8, bits >>> 16, bits >>> 24);
