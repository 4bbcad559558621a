import type { ByteSource } from "../../../bytes/source.js";
import { ZstdDamage } from "../../../codecs/zstd/damage.js";
import type { ZstdDecoder } from "../../../codecs/zstd/decoder.js";
import { CorruptCheckpointError, UnsupportedCheckpointError } from "../../../errors.js";
import type { StoredPart } from "./parts.js";
import { conversionOf, PartWriter } from "./partWriter.js";
import type { PieceWriter } from "./pieceWriter.js";
import type { StoredBytes } from "./storedBytes.js";

/** Parts of a file, and its bytes. */
export interface ReadableParts {
  /** Names the file in errors. */
  readonly path: string;
  readonly parts: Iterable<StoredPart>;
  readonly bytes: StoredBytes;
}

/**
 * Reads, decodes and casts the parts of a job, one after the other, into pieces: on a worker, or on the calling thread where there is none.
 * @param files their parts are numbered through.
 * @param decoder needed where a part is compressed.
 * @throws CorruptCheckpointError for bytes that do not decode to what the job says, and what the storage throws.
 */
export async function decodeParts(
  files: Iterable<ReadableParts> | AsyncIterable<ReadableParts>,
  decoder: ZstdDecoder | undefined,
  pieces: PieceWriter,
): Promise<void> {
  let index = 0;
  for await (const { path, parts, bytes } of files) {
    for (const part of parts) {
      const source = await bytes.at(part);
      const writer = new PartWriter(pieces, index++, part, path, await conversionOf(part, path));
      await decoding[part.codec]({ part, path, source, writer, decoder });
      writer.end();
    }
  }
  await pieces.flush();
}

interface Decoding {
  readonly part: StoredPart;
  readonly path: string;
  readonly source: ByteSource;
  readonly writer: PartWriter;
  readonly decoder: ZstdDecoder | undefined;
}

const decoding: Readonly<Record<StoredPart["codec"], (work: Decoding) => Promise<void>>> = { none: copyStored, zstd: decodeZstd };

/** Memory that stored bytes pass through where they have to be converted. */
const conversionLength = 256 * 1024;

async function copyStored({ part, path, source, writer }: Decoding): Promise<void> {
  if (part.length !== part.decodedLength) throw corrupt(part, path, `${part.decodedLength} bytes`, `${part.length}`);
  const memory = writer.isPlain ? undefined : new Uint8Array(Math.min(conversionLength, part.length));
  while (writer.missing > 0) {
    const room = memory?.subarray(0, writer.missing) ?? (await writer.room());
    const count = await source.read(room);
    if (count === 0) throw tooShort(part, path);
    if (memory === undefined) writer.commit(count);
    else await writer.write(room.subarray(0, count));
  }
}

async function decodeZstd({ decoder, ...work }: Decoding): Promise<void> {
  const { part, path } = work;
  if (decoder === undefined) throw new UnsupportedCheckpointError(`${path}: zstd needs WebAssembly`);
  try {
    await decodeFrame({ ...work, decoder });
  } catch (cause) {
    if (!(cause instanceof ZstdDamage)) throw cause;
    throw new CorruptCheckpointError({ path, offset: part.offset + cause.at, expected: cause.expected, received: cause.message, cause });
  }
}

async function decodeFrame({ part, path, source, writer, decoder }: Decoding & { readonly decoder: ZstdDecoder }): Promise<void> {
  const limits = { longestDecoded: part.decodedLength, decodedLength: part.decodedLength, encodedLength: part.length };
  if (part.windowLog === undefined) decoder.begin(limits);
  else decoder.beginBlocks(part.windowLog, limits);
  let left = part.length;
  for (;;) {
    for (let decoded = decoder.next(); decoded !== undefined; decoded = decoder.next()) await writer.write(decoded);
    if (left === 0 || decoder.ended) break;
    const count = await source.read(decoder.input.subarray(0, left));
    if (count === 0) throw tooShort(part, path);
    decoder.given(count);
    left -= count;
  }
  if (left > 0) throw new ZstdDamage(`${left} more bytes`, { expected: "the end of the zstd frame", at: part.length - left });
  if (part.windowLog === undefined) decoder.finish();
}

const corrupt = ({ offset }: StoredPart, path: string, expected: string, received: string) =>
  new CorruptCheckpointError({ path, offset, expected, received });

const tooShort = (part: StoredPart, path: string) => corrupt(part, path, `${part.length} bytes`, "fewer");
