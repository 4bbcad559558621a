import { giveBackDecoder, takeDecoder } from "../../../codecs/zstd/idleDecoders.js";
import { decodeParts } from "./decodeParts.js";
import type { Piece, PieceSizes, StoredParts } from "./parts.js";
import { PieceMemory } from "./pieceMemory.js";
import { PieceWriter } from "./pieceWriter.js";
import type { StoredBytes } from "./storedBytes.js";

/** What a job on the calling thread works with. */
export interface LocalJob {
  readonly job: StoredParts;
  readonly bytes: StoredBytes;
  readonly pieces: PieceSizes;
  /** Takes decoded elements; the memory is used again when the promise resolves. */
  readonly onPiece: (piece: Piece) => Promise<void>;
}

/** Runs one job on the calling thread. Throws as {@link decodeParts}, and what `onPiece` throws. */
export async function decodeHere({ job, bytes, pieces, onPiece }: LocalJob): Promise<void> {
  const memory = new PieceMemory({ ...pieces, count: 1 });
  const writer = new PieceWriter({
    take: () => memory.take(),
    async give(piece) {
      await onPiece(piece);
      memory.giveBack(piece.buffer);
    },
  });
  const decoder = job.parts.some(({ codec }) => codec === "zstd") ? await takeDecoder() : undefined;
  await decodeParts([{ ...job, bytes }], decoder, writer);
  if (decoder !== undefined) giveBackDecoder(decoder);
}
