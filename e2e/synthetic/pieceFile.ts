import type { ServedFile } from "../server/server.mjs";

/** A file for the test server that is made of pieces; any range is served without joining them. */
export function pieceFile(pieces: readonly Uint8Array[]): ServedFile {
  const ends: number[] = [];
  for (const piece of pieces) ends.push((ends.at(-1) ?? 0) + piece.byteLength);
  const size = ends.at(-1) ?? 0;
  return {
    size,
    etag: `"made-${size}"`,
    async *read(start, end) {
      for (let index = firstPieceBehind(ends, start); index < pieces.length; index++) {
        const piece = pieces[index] ?? new Uint8Array();
        const pieceStart = (ends[index] ?? 0) - piece.byteLength;
        if (pieceStart >= end) return;
        yield piece.subarray(Math.max(0, start - pieceStart), end - pieceStart);
      }
    },
  };
}

/** Index of the first piece that ends behind a byte. */
function firstPieceBehind(ends: readonly number[], byte: number): number {
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ends[middle] ?? 0) > byte) high = middle;
    else low = middle + 1;
  }
  return low;
}
