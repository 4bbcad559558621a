import { longestKey } from "./format/btreeKeys.js";

const encoder = new TextEncoder();

/**
 * A key as the bytes that it is stored as: UTF-8. Of a key too long to be stored, only so much as shows that it is. Keys are short and mostly
 * ASCII, for which a loop is cheaper than an encoder's call.
 */
export function keyBytes(key: string): Uint8Array {
  const text = key.length > longestKey ? key.slice(0, longestKey + 1) : key;
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) return encoder.encode(text);
    bytes[index] = code;
  }
  return bytes;
}
