const encoder = new TextEncoder();

/** A key as the bytes that it is stored as: UTF-8. Keys are short and mostly ASCII, for which a loop is cheaper than an encoder's call. */
export function keyBytes(key: string): Uint8Array {
  const bytes = new Uint8Array(key.length);
  for (let index = 0; index < key.length; index++) {
    const code = key.charCodeAt(index);
    if (code > 0x7f) return encoder.encode(key);
    bytes[index] = code;
  }
  return bytes;
}
