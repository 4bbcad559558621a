import type { FileEntry } from "@zip.js/zip.js";
import type { ByteRange } from "../../bytes/ranges.js";
import { endOf } from "../../bytes/ranges.js";
import type { TaskContext } from "../../tasks/context.js";
import { zipError } from "./zipErrors.js";
import { understood } from "./zipIndex.js";

/**
 * Bytes of an entry in pieces, in order. Whole entries are compared with their CRC-32, parts of stored ones are read by themselves, and
 * parts of deflated ones from the entry's first byte on.
 * @throws CorruptCheckpointError where the ZIP is damaged there.
 */
export async function* piecesOfEntry(zip: Blob, entry: FileEntry, range: ByteRange, context: TaskContext): AsyncGenerator<Uint8Array> {
  const isWhole = range.offset === 0 && range.length === entry.uncompressedSize;
  if (entry.compressionMethod === 0 && !isWhole) yield* storedPieces(zip, entry, range, context);
  else if (isWhole) yield* exactly(unpacked(entry, context), entry);
  else yield* cut(unpacked(entry, context), range);
}

const pieceLength = 1024 * 1024;

async function* storedPieces(zip: Blob, entry: FileEntry, range: ByteRange, { signal }: TaskContext): AsyncGenerator<Uint8Array> {
  const start = await dataOffset(zip, entry);
  for (let at = range.offset; at < endOf(range); at += pieceLength) {
    signal?.throwIfAborted();
    const part = zip.slice(start + at, start + Math.min(at + pieceLength, endOf(range)));
    yield new Uint8Array(await part.arrayBuffer());
  }
}

/** Behind the local header, whose names and fields differ in length from the central directory's. */
async function dataOffset(zip: Blob, entry: FileEntry): Promise<number> {
  const header = new DataView(await zip.slice(entry.offset, entry.offset + 30).arrayBuffer());
  const isHeader = header.byteLength === 30 && header.getUint32(0, true) === 0x04034b50;
  const start = isHeader ? entry.offset + 30 + header.getUint16(26, true) + header.getUint16(28, true) : Number.NaN;
  if (start + entry.compressedSize <= zip.size) return start;
  throw zipError("damaged", { path: entry.filename, expected: "a local header of the ZIP's entry", received: "other bytes" });
}

/** zip.js inflates and checks; it waits where the reader does. */
async function* unpacked(entry: FileEntry, { signal }: TaskContext): AsyncGenerator<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const whole = { path: entry.filename, expected: "the file as it was packed into the ZIP" };
  const unpacking = understood(whole, () => entry.getData(writable, { ...(signal !== undefined && { signal }) }), signal);
  // Where it fails early it leaves its stream as it is, and where it fails later the stream says so in other words.
  const failing = new Promise<never>((_, reject) => unpacking.catch(reject));
  failing.catch(() => undefined);
  const reader = readable.getReader();
  const read = () => Promise.race([reader.read().catch(() => failing), failing]);
  try {
    for (;;) {
      const { done, value } = await read();
      if (done) break;
      yield value;
    }
    await unpacking;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

async function* exactly(pieces: AsyncIterable<Uint8Array>, { filename, uncompressedSize }: FileEntry): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const piece of pieces) {
    length += piece.length;
    if (length > uncompressedSize) break;
    yield piece;
  }
  if (length === uncompressedSize) return;
  const received = length > uncompressedSize ? "more" : `${length}`;
  throw zipError("damaged", { path: filename, expected: `${uncompressedSize} bytes, as the ZIP says`, received });
}

async function* cut(pieces: AsyncIterable<Uint8Array>, range: ByteRange): AsyncGenerator<Uint8Array> {
  let at = 0;
  for await (const piece of pieces) {
    const from = Math.max(0, range.offset - at);
    const to = Math.min(piece.length, endOf(range) - at);
    at += piece.length;
    if (from < to) yield piece.subarray(from, to);
    if (at >= endOf(range)) return;
  }
}
