import { crc32c } from "../bytes/crc32c.js";
import type { Codec } from "../codecs/codec.js";
import { codecNamed } from "../codecs/registry.js";
import { CorruptCheckpointError, UnsupportedCheckpointError } from "../errors.js";
import type { TaskContext } from "../tasks/context.js";
import { type Compression, checksum } from "./compression.js";
import type { ChunkPlace } from "./elements.js";

const checksumBytes = 4;

/** How many bytes are expected. */
export interface ExpectedLength {
  /** Undefined where it is not known. */
  readonly exact: number | undefined;
  readonly longest: number;
}

/**
 * Undoes a compression, last codec first. Answers with the bytes themselves where there is none.
 * @throws CorruptCheckpointError for bytes that do not decode to the expected length, or have another checksum.
 */
export async function decompress(
  compression: Compression,
  bytes: Uint8Array,
  expected: ExpectedLength,
  place: ChunkPlace,
  context: TaskContext,
): Promise<Uint8Array> {
  const lengths = lengthsBefore(compression, expected.exact);
  let value = bytes;
  for (const [index, name] of [...compression.entries()].reverse()) {
    const decodedLength = lengths[index];
    const request = { ...place, decodedLength, longestDecoded: decodedLength ?? expected.longest };
    value = name === checksum ? checked(value, place) : await requireCodec(name, place).decode(value, request, context);
  }
  if (value.length === (expected.exact ?? value.length)) return value;
  // Codecs check this themselves; a chunk of another length would end up in its neighbours, so it is checked here too.
  throw new CorruptCheckpointError({ ...place, expected: `a chunk of ${expected.exact} bytes, decoded`, received: `${value.length}` });
}

/** How many bytes each codec was given; undefined behind a compressor. */
function lengthsBefore(compression: Compression, exact: number | undefined): (number | undefined)[] {
  let length = exact;
  return compression.map((name) => {
    const before = length;
    length = name === checksum && before !== undefined ? before + checksumBytes : undefined;
    return before;
  });
}

/** @throws UnsupportedCheckpointError for a name that metadata do not pass with. */
export function requireCodec(name: string, { path }: ChunkPlace): Codec {
  const codec = codecNamed(name);
  if (codec !== undefined) return codec;
  throw new UnsupportedCheckpointError(
    `${path}: compressor ${JSON.stringify(name)} is not read; write the array again with zstd, gzip, zlib, blosc, or none`,
  );
}

/** The bytes before their CRC-32C, little endian. */
function checked(bytes: Uint8Array, place: ChunkPlace): Uint8Array {
  const length = bytes.length - checksumBytes;
  const corrupt = (expected: string, received: string) => new CorruptCheckpointError({ ...place, expected, received });
  if (length < 0) throw corrupt(`a checksum of ${checksumBytes} bytes`, `${bytes.length} bytes`);
  const value = bytes.subarray(0, length);
  const expected = new DataView(bytes.buffer, bytes.byteOffset + length).getUint32(0, true);
  const received = crc32c(value);
  if (received === expected) return value;
  throw corrupt(`bytes with CRC-32C ${expected.toString(16)}`, received.toString(16));
}
