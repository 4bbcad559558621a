import { abortable, type TaskContext } from "../../tasks/context.js";
import { streamPieceLength } from "../streamRange.js";

/** A reader that fills the memory it is given, up to `min` bytes before it answers where it knows of `min`. */
interface ByteReader {
  read(
    memory: Uint8Array<ArrayBuffer>,
    options: { readonly min: number },
  ): Promise<{ readonly value?: Uint8Array<ArrayBuffer> | undefined }>;
  cancel(): Promise<void>;
}

/**
 * All bytes of a blob, in memory of their own; into such memory this is the fastest way for any length.
 * @throws what the browser does, such as NotReadableError where the file behind it has changed.
 */
export async function readBlob(blob: Blob): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  if (bytes.byteLength !== blob.size) throw endedEarly();
  return bytes;
}

/** The bytes of a blob in pieces of up to 1 MiB, a piece until the next one is asked for. Throws as {@link readBlob}. */
export async function* blobPieces(blob: Blob, ctx: TaskContext): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = byteReaderOf(blob);
  try {
    let memory = new ArrayBuffer(reader === undefined ? 0 : Math.min(streamPieceLength, blob.size));
    for (let at = 0; at < blob.size; ) {
      const length = Math.min(streamPieceLength, blob.size - at);
      const filling = reader ? fill(reader, memory, length) : readBlob(blob.slice(at, at + length));
      const piece = await abortable(filling, ctx);
      memory = piece.buffer;
      at += length;
      yield piece;
    }
  } finally {
    if (reader !== undefined) leave(reader);
  }
}

/** Undefined where the streams of blobs bring their own memory, as in Safari. */
function byteReaderOf(blob: Blob): ByteReader | undefined {
  try {
    return blob.stream().getReader({ mode: "byob" });
  } catch {
    return undefined;
  }
}

/** The next `length` bytes, at the start of the memory, which the stream takes away meanwhile. */
async function fill(reader: ByteReader, memory: ArrayBuffer, length: number): Promise<Uint8Array<ArrayBuffer>> {
  let buffer = memory;
  for (let filled = 0; filled < length; ) {
    const { value } = await reader.read(new Uint8Array(buffer, filled, length - filled), { min: length - filled });
    if (value === undefined || value.byteLength === 0) throw endedEarly();
    buffer = value.buffer;
    filled += value.byteLength;
  }
  return new Uint8Array(buffer, 0, length);
}

/** What of the blob was not read stays open otherwise. One that failed, or was read to its end, says so again. */
function leave(reader: ByteReader): void {
  reader.cancel().catch(() => undefined);
}

const endedEarly = () => new RangeError("the file ended before its last byte");
