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
 * All bytes of a blob, in memory of their own.
 * @throws what the browser does, such as NotReadableError where the file behind it has changed.
 */
export async function readBlob(blob: Blob): Promise<Uint8Array<ArrayBuffer>> {
  const reader = byteReaderOf(blob);
  if (reader === undefined) return new Uint8Array(await blob.arrayBuffer());
  try {
    return await fill(reader, new Uint8Array(blob.size));
  } finally {
    leave(reader);
  }
}

/** The bytes of a blob in pieces of up to 1 MiB, a piece until the next one is asked for. Throws as {@link readBlob}. */
export async function* blobPieces(blob: Blob, ctx: TaskContext): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = byteReaderOf(blob);
  try {
    let memory = new ArrayBuffer(reader === undefined ? 0 : Math.min(streamPieceLength, blob.size));
    for (let at = 0; at < blob.size; ) {
      const length = Math.min(streamPieceLength, blob.size - at);
      const filling = reader ? fill(reader, new Uint8Array(memory, 0, length)) : readBlob(blob.slice(at, at + length));
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

/** The memory full of the next bytes, which the stream takes away meanwhile. */
async function fill(reader: ByteReader, memory: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const { byteOffset, byteLength } = memory;
  let { buffer } = memory;
  for (let filled = 0; filled < byteLength; ) {
    const rest = new Uint8Array(buffer, byteOffset + filled, byteLength - filled);
    const { value } = await reader.read(rest, { min: rest.byteLength });
    if (value === undefined || value.byteLength === 0) throw new RangeError("the file's stream ended before its last byte");
    buffer = value.buffer;
    filled += value.byteLength;
  }
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** What of the blob was not read stays open otherwise. One that failed, or was read to its end, says so again. */
function leave(reader: ByteReader): void {
  reader.cancel().catch(() => undefined);
}
