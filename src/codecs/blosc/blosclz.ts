import { copyBack } from "./lz4.js";

/** The longest distance that stands in two bytes; longer ones follow as what exceeds it (`MAX_DISTANCE` of c-blosc's blosclz.c). */
const nearest = 8191;

/**
 * Decodes one block of BloscLZ into all of `into`: instructions of a byte, whose first three bits are 0 for literals and else a length.
 * @returns false where it is damaged, or decodes to another length.
 */
export function decodeBlosclz(source: Uint8Array, into: Uint8Array): boolean {
  let from = 0;
  let to = 0;
  while (from < source.length) {
    // The first instruction is one of literals; its other bits mark the format.
    const instruction = (source[from] ?? 0) & (from === 0 ? 31 : 255);
    from += 1;
    if (instruction < 32) {
      const literals = instruction + 1;
      if (literals > source.length - from || literals > into.length - to) return false;
      into.set(source.subarray(from, from + literals), to);
      from += literals;
      to += literals;
      continue;
    }
    let length = (instruction >> 5) + 2;
    if (length === 9) {
      let more = 255;
      while (more === 255) {
        more = source[from++] ?? 0;
        length += more;
      }
    }
    const low = source[from++] ?? 0;
    let distance = 256 * (instruction & 31) + low;
    if (distance === nearest) {
      distance += 256 * (source[from] ?? 0) + (source[from + 1] ?? 0);
      from += 2;
    }
    if (from > source.length || !copyBack(into, to, distance + 1, length)) return false;
    to += length;
  }
  return to === into.length;
}
