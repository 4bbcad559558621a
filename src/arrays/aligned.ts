/** Arguments for a TypedArray of `unit` bytes an element over the bytes; they are copied where they are not aligned. */
export function aligned(bytes: Uint8Array, unit: number): [buffer: ArrayBuffer, byteOffset: number, length: number] {
  const { buffer, byteOffset, byteLength } = bytes.byteOffset % unit === 0 ? bytes : bytes.slice();
  return [buffer as ArrayBuffer, byteOffset, byteLength / unit];
}
