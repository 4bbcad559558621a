import type { Block } from "../arrays/spec.js";
import type { LeafUpload } from "./leafUpload.js";

/** Part of a block, or a whole one, with the array that it goes into. */
export interface Piece {
  readonly upload: LeafUpload;
  readonly block: Block;
}

/** Pieces that go to the device at once. */
export interface WriteBatch {
  readonly byteLength: number;
  readonly pieces: readonly [Piece, ...Piece[]];
}

/** Puts pieces together, in their order, to batches of at most `longest` bytes; none of the pieces is longer. */
export function* batchesOf(pieces: Iterable<Piece>, longest: number): Generator<WriteBatch> {
  let batch: [Piece, ...Piece[]] | undefined;
  let byteLength = 0;
  for (const piece of pieces) {
    const bytes = piece.block.data.byteLength;
    if (batch !== undefined && byteLength + bytes > longest) {
      yield { byteLength, pieces: batch };
      batch = undefined;
      byteLength = 0;
    }
    if (batch === undefined) batch = [piece];
    else batch.push(piece);
    byteLength += bytes;
  }
  if (batch !== undefined) yield { byteLength, pieces: batch };
}
