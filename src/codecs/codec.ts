import type { TaskContext } from "../tasks/context.js";

/** What a decoder is told about the bytes it gets. */
export interface DecodeRequest {
  /** Exact length of the decoded bytes, where the format fixes it; anything else is corruption. */
  readonly decodedLength?: number | undefined;
  /** Most bytes the decoded value may have, where its length is unknown. */
  readonly longestDecoded: number;
  /** File the bytes come from, for errors, and where in it they start. */
  readonly path: string;
  readonly offset?: number | undefined;
}

/** A compression format. Both ways throw `CorruptCheckpointError` for bytes that do not decode to the length asked for. */
export interface Codec {
  readonly name: string;
  /** Decodes a whole value that is in memory. */
  decode(bytes: Uint8Array, request: DecodeRequest, context?: TaskContext): Promise<Uint8Array>;
  /**
   * Decodes a value that arrives in pieces, into pieces of at most about 1 MiB; a piece is the caller's until the next one is
   * asked for, and memory stays within the format's window.
   */
  stream(pieces: AsyncIterable<Uint8Array>, request: DecodeRequest, context?: TaskContext): AsyncIterable<Uint8Array>;
}
