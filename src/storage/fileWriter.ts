import { requireArgument, someBytes } from "../arguments.js";

/** A file that is written piece by piece, so that files may be larger than memory. What stood at its path stays there until `close`. */
export interface FileWriter {
  /**
   * Appends; when it resolves, the bytes are the caller's again. One call at a time; after one that rejected only `abort` is left.
   * @throws StorageError where the place fails.
   */
  write(bytes: Uint8Array): Promise<void>;
  /** Puts the file in its place, whole. @throws StorageError where the place fails. */
  close(): Promise<void>;
  /** Gives the file up and frees what it took. Never rejects; does nothing after `close` has resolved. */
  abort(): Promise<void>;
}

/** Writes a whole file as one piece; one that failed is given up. */
export async function writeWhole(begun: Promise<FileWriter>, bytes: Uint8Array): Promise<void> {
  const writer = await begun;
  try {
    await writer.write(bytes);
    await writer.close();
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

/** A writer that keeps copies of the pieces, and stores all of them as one at `close`. */
export function gatheringWriter(store: (bytes: Uint8Array) => Promise<void> | void, signal: AbortSignal | undefined): FileWriter {
  let pieces: Uint8Array[] = [];
  return {
    async write(bytes) {
      requireArgument("what a writer takes", bytes, someBytes);
      signal?.throwIfAborted();
      // Not slice, which on Node's Buffer copies nothing.
      pieces.push(new Uint8Array(bytes));
    },
    async close() {
      signal?.throwIfAborted();
      await store(joined(pieces));
      pieces = [];
    },
    async abort() {
      pieces = [];
    },
  };
}

/** A writer that gives all bytes so far to `put` after each piece; later pieces leave them as they are. */
export function growingWriter(put: (bytes: Uint8Array) => void, signal: AbortSignal | undefined): FileWriter {
  let room = new Uint8Array(1024);
  let length = 0;
  return {
    async write(bytes) {
      requireArgument("what a writer takes", bytes, someBytes);
      signal?.throwIfAborted();
      const end = length + bytes.length;
      if (end > room.length) {
        const larger = new Uint8Array(Math.max(end, 2 * room.length));
        larger.set(room.subarray(0, length));
        room = larger;
      }
      room.set(bytes, length);
      length = end;
      put(room.subarray(0, length));
    },
    async close() {
      signal?.throwIfAborted();
    },
    async abort() {},
  };
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
