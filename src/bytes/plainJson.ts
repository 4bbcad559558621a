import { deepestNesting, type JsonValue, longestNumber } from "./jsonValue.js";

/** Longest text that is handed to the platform, in UTF-16 units: it is parsed in a few milliseconds, and has fewer values than are too many. */
export const longestPlain = 1024 * 1024;

/** A number outside strings that has a fraction or an exponent; those within strings do no harm. */
const floatPattern = /(?:^|[[:,\s])-?[0-9]+[.eE]/;

/** More digits in a row than a number may be long, shared between its three parts. */
const longDigits = new RegExp(`[0-9]{${Math.floor(longestNumber / 4)}}`);

/**
 * What the platform's own parser, which is many times faster, makes of a text that means the same to it: no bare `NaN`, no integer beyond
 * 2^53, no `-0`, no more nesting than is read.
 * @param floatsDiffer whether `1.0` must not be taken for `1`.
 * @returns undefined where the text is another one, or none at all.
 */
export function parsePlainJson(text: string, floatsDiffer: boolean): JsonValue | undefined {
  if (text.length > longestPlain || (floatsDiffer && floatPattern.test(text))) return undefined;
  if (text.length > longestNumber && longDigits.test(text)) return undefined;
  try {
    const value = JSON.parse(text) as JsonValue;
    return isPlain(value, 0) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isPlain(value: JsonValue, depth: number): boolean {
  if (typeof value === "number") return Number.isInteger(value) ? Number.isSafeInteger(value) && !Object.is(value, -0) : true;
  if (typeof value !== "object" || value === null) return true;
  if (depth > deepestNesting) return false;
  return (Array.isArray(value) ? value : Object.values(value)).every((child) => isPlain(child, depth + 1));
}
