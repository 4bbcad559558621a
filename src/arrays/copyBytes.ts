// A view costs about as much as 32 bytes copied one by one.
const shortCopy = 32;

/** Copies `length` bytes from one place to another. */
export function copyBytes(source: Uint8Array, from: number, target: Uint8Array, to: number, length: number): void {
  if (length > shortCopy) target.set(source.subarray(from, from + length), to);
  else for (let index = 0; index < length; index++) target[to + index] = source[from + index] ?? 0;
}
