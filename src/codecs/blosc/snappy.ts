import { copyBack } from "./lz4.js";

/**
 * Decodes one block of Snappy (format_description.txt) into all of `into`.
 * @returns false where it is damaged, or decodes to another length.
 */
export function decodeSnappy(source: Uint8Array, into: Uint8Array): boolean {
  let from = 0;
  let to = 0;
  /** A little-endian number; NaN past the end. */
  const numberOf = (bytes: number): number => {
    let value = 0;
    for (let at = 0; at < bytes; at++) value += (source[from++] ?? Number.NaN) * 256 ** at;
    return value;
  };
  // The decoded length, in groups of 7 bits, which is known here.
  while ((source[from++] ?? 0) >= 128);
  while (from < source.length) {
    const tag = source[from++] ?? 0;
    const kind = tag & 3;
    if (kind === 0) {
      const length = 1 + (tag < 240 ? tag >> 2 : numberOf((tag >> 2) - 59));
      if (!(length <= source.length - from && length <= into.length - to)) return false;
      into.set(source.subarray(from, from + length), to);
      from += length;
      to += length;
      continue;
    }
    const length = kind === 1 ? 4 + ((tag >> 2) & 7) : 1 + (tag >> 2);
    const distance = kind === 1 ? 256 * (tag >> 5) + numberOf(1) : numberOf(kind === 2 ? 2 : 4);
    if (!copyBack(into, to, distance, length)) return false;
    to += length;
  }
  return to === into.length;
}
