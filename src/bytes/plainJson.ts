import { deepestNesting } from "./jsonValue.js";

/** Longest file that is handed to the platform, in bytes: it is parsed in a few milliseconds, and has fewer values than are too many. */
export const longestPlain = 1024 * 1024;

/** Fewest digits of an integer beyond 2^53. */
const digitsOfLargest = 16;

/** Codes of the characters that matter. */
const codes = {
  quote: 0x22,
  minus: 0x2d,
  dot: 0x2e,
  zero: 0x30,
  nine: 0x39,
  upperE: 0x45,
  list: 0x5b,
  backslash: 0x5c,
  listEnd: 0x5d,
  lowerE: 0x65,
  object: 0x7b,
  objectEnd: 0x7d,
} as const;

/**
 * Whether the platform's own parser, which is many times faster, makes of a file what the tolerant one makes of it, or refuses it: no integer
 * that may be beyond 2^53, no `-0`, no more nesting than is read. Of files that are no JSON it may say either.
 * @param floatsDiffer whether `1.0` must not be taken for `1`.
 */
export function isPlainJson(bytes: Uint8Array, floatsDiffer: boolean): boolean {
  if (bytes.length > longestPlain) return false;
  let depth = 0;
  let digits = 0;
  for (let at = 0; at < bytes.length; at++) {
    const code = bytes[at] ?? 0;
    if (code >= codes.zero && code <= codes.nine) {
      digits++;
      if (digits === digitsOfLargest || (digits === 1 && code === codes.zero && bytes[at - 1] === codes.minus)) return false;
      continue;
    }
    if (floatsDiffer && digits > 0 && (code === codes.dot || code === codes.lowerE || code === codes.upperE)) return false;
    digits = 0;
    if (code === codes.quote) at = endOfString(bytes, at);
    else if (code === codes.list || code === codes.object) depth++;
    else if (code === codes.listEnd || code === codes.objectEnd) depth--;
    if (depth > deepestNesting) return false;
  }
  return true;
}

/** Where the quote is that ends the string which begins at `start`. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  for (; at < bytes.length && bytes[at] !== codes.quote; at++) if (bytes[at] === codes.backslash) at++;
  return at;
}
