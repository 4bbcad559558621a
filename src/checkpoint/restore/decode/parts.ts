import type { Dtype } from "../../../arrays/dtypes.js";
import type { ByteRange } from "../../../bytes/ranges.js";
import type { ByteOrder } from "../../../zarr/dtypeName.js";

// What the calling thread and its workers tell each other of chunks: plain data.

/** A chunk, or a part of one, that decodes by itself: where its bytes are stored and what becomes of them. */
export interface StoredPart extends ByteRange {
  readonly codec: "zstd" | "none";
  /** For blocks cut out of a zstd frame: log2 of the frame's window in bytes. */
  readonly windowLog?: number | undefined;
  /** Bytes that it decodes to, before a cast. */
  readonly decodedLength: number;
  /** Index of its first element within the chunk, in C order. */
  readonly elementOffset: number;
  readonly storedDtype: Dtype;
  readonly byteOrder: ByteOrder;
  /** Dtype of the elements that are wanted. */
  readonly dtype: Dtype;
}

/** Parts of one file, by ascending offset. */
export interface StoredParts {
  /** Names the file in errors. */
  readonly path: string;
  readonly parts: readonly StoredPart[];
}

/** Elements of one part that lie in a piece. */
export interface PieceRun {
  /** Index of the part in its job. */
  readonly part: number;
  /** Bytes of the part's wanted elements that come before. */
  readonly offset: number;
  /** Where they begin in the piece, and their length; in bytes. */
  readonly start: number;
  readonly byteLength: number;
}

/** Decoded elements, of one part or of many short ones. */
export interface Piece {
  readonly buffer: ArrayBuffer;
  readonly runs: readonly PieceRun[];
}

/** How large pieces are, and how many of them one job has in use; in bytes and as a count. */
export interface PieceSizes {
  readonly byteLength: number;
  readonly count: number;
}
