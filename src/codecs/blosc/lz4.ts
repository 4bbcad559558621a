/**
 * Decodes one block of LZ4 (lz4_Block_format.md) into all of `into`.
 * @returns false where it is damaged, or decodes to another length.
 */
export function decodeLz4(source: Uint8Array, into: Uint8Array): boolean {
  let from = 0;
  let to = 0;
  /** A length that goes on in further bytes where its four bits are all set; NaN past the end. */
  const lengthOf = (bits: number): number => {
    if (bits < 15) return bits;
    let length = bits;
    for (;;) {
      const byte = source[from++];
      length += byte ?? Number.NaN;
      if (byte !== 255) return length;
    }
  };
  while (from < source.length) {
    const token = source[from++] ?? 0;
    const literals = lengthOf(token >> 4);
    if (!(literals <= source.length - from && literals <= into.length - to)) return false;
    into.set(source.subarray(from, from + literals), to);
    from += literals;
    to += literals;
    if (from === source.length) break;
    const distance = (source[from] ?? 0) + 256 * (source[from + 1] ?? 0);
    from += 2;
    const length = 4 + lengthOf(token & 15);
    if (!copyBack(into, to, distance, length)) return false;
    to += length;
  }
  return to === into.length;
}

/**
 * Repeats what stands `distance` bytes before `to`, which may overlap with what is written.
 * @returns false where that lies outside.
 */
export function copyBack(into: Uint8Array, to: number, distance: number, length: number): boolean {
  if (!(distance >= 1 && distance <= to) || !(length <= into.length - to)) return false;
  if (distance >= length) into.copyWithin(to, to - distance, to - distance + length);
  else for (let at = to; at < to + length; at++) into[at] = into[at - distance] ?? 0;
  return true;
}
