// What a header says is believed only so far; beyond it the buffer grows as bytes come.
const largestFirstBuffer = 1024 * 1024 * 1024;

/**
 * All pieces as one array; a right `expected` length, in bytes, saves copies and a wrong one does no harm.
 * @throws what `tooLong` makes as soon as there are more than `limit` bytes.
 */
export async function collect(
  pieces: AsyncIterable<Uint8Array>,
  expected: number | undefined,
  limit: number,
  tooLong: () => Error,
): Promise<Uint8Array> {
  let buffer = new Uint8Array();
  let length = 0;
  for await (const piece of pieces) {
    if (length === 0) buffer = new Uint8Array(Math.min(expected ?? 16 * 1024, limit, largestFirstBuffer));
    const end = length + piece.byteLength;
    if (end > limit) throw tooLong();
    if (end > buffer.byteLength) buffer = grown(buffer, Math.min(limit, Math.max(end, 2 * buffer.byteLength)));
    buffer.set(piece, length);
    length = end;
  }
  return length === buffer.byteLength ? buffer : buffer.slice(0, length);
}

function grown(buffer: Uint8Array, byteLength: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(byteLength);
  larger.set(buffer);
  return larger;
}
