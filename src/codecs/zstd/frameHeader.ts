import { ZstdDamage } from "./damage.js";

/** The header of a zstd frame (RFC 8878, section 3.1.1.1). */
export interface ZstdFrameHeader {
  /** Bytes that the header takes, magic included. */
  readonly byteLength: number;
  /** Decoded bytes of the frame, where it says so. */
  readonly contentSize: number | undefined;
  /** How far back a match may reach, in bytes. */
  readonly windowSize: number;
  /** True where the window is the content itself. */
  readonly singleSegment: boolean;
  /** True where four bytes of XXH64 follow the last block. */
  readonly hasChecksum: boolean;
}

/** Largest window that is decoded, in bytes; libzstd's streaming decoder, and so TensorStore, has the same limit. */
const largestWindow = 2 ** 27;

/** Most decoded bytes of one block. */
export const largestBlock = 128 * 1024;

/** Most bytes that a header takes, magic included. */
export const longestHeader = 18;

const magic = 0xfd2fb528;

/**
 * Reads the frame header that starts `bytes`; `undefined` where more bytes are needed to tell.
 * @throws ZstdDamage for other magics (skippable frames, too, as in TensorStore), dictionaries and too large windows.
 */
export function parseFrameHeader(bytes: Uint8Array): ZstdFrameHeader | undefined {
  if (bytes.length < 4) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = view.getUint32(0, true);
  if (start !== magic) throw refused(`0x${start.toString(16).padStart(8, "0")}${isSkippable(start) ? " (a skippable frame)" : ""}`);
  const descriptor = bytes[4];
  if (descriptor === undefined) return undefined;
  const fields = fieldsOf(descriptor);
  if (fields.reserved) throw refused("a header with the reserved bit set");
  if (bytes.length < fields.byteLength) return undefined;
  if (readUint(view, fields.dictionaryOffset, fields.dictionaryBytes) !== 0) throw refused("a frame that needs a dictionary");
  const stored = readUint(view, fields.contentOffset, fields.contentBytes);
  const contentSize = fields.contentBytes === 0 ? undefined : stored + (fields.contentBytes === 2 ? 256 : 0);
  const windowSize = fields.singleSegment && contentSize !== undefined ? contentSize : windowOf(view.getUint8(5));
  if (windowSize > largestWindow) throw refused(`a frame with a window of ${windowSize} bytes`);
  return { byteLength: fields.byteLength, contentSize, windowSize, singleSegment: fields.singleSegment, hasChecksum: fields.hasChecksum };
}

/** Most decoded bytes of one block of this frame. */
export const blockLimit = ({ windowSize }: ZstdFrameHeader): number => Math.min(largestBlock, windowSize);

/**
 * The header's bytes with a window no larger than `decodedLength` bytes need, so that a decoder does not allocate the window
 * that a damaged header declares. Never below one block, on which the limits of blocks depend.
 */
export function narrowWindow(header: Uint8Array, { singleSegment, windowSize }: ZstdFrameHeader, decodedLength: number): Uint8Array {
  const needed = Math.max(largestBlock, decodedLength);
  if (singleSegment || windowSize <= needed) return header;
  const narrow = header.slice();
  narrow[5] = (Math.ceil(Math.log2(needed)) - 10) << 3;
  return windowOf(narrow[5] ?? 0) < windowSize ? narrow : header;
}

const isSkippable = (start: number) => start >>> 4 === 0x0184d2a5;

const windowOf = (descriptor: number): number => 2 ** (10 + (descriptor >> 3)) * (1 + (descriptor & 7) / 8);

function fieldsOf(descriptor: number) {
  const singleSegment = (descriptor & 0x20) !== 0;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
  const contentBytes = [singleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  const dictionaryOffset = singleSegment ? 5 : 6;
  const contentOffset = dictionaryOffset + dictionaryBytes;
  return {
    singleSegment,
    hasChecksum: (descriptor & 4) !== 0,
    reserved: (descriptor & 8) !== 0,
    dictionaryOffset,
    dictionaryBytes,
    contentOffset,
    contentBytes,
    byteLength: contentOffset + contentBytes,
  };
}

/** Little-endian, 0 to 8 bytes; above 2^53 rounded, which every limit refuses. */
function readUint(view: DataView, offset: number, byteLength: number): number {
  let value = 0;
  for (let i = byteLength - 1; i >= 0; i--) value = value * 256 + view.getUint8(offset + i);
  return value;
}

const refused = (received: string) =>
  new ZstdDamage(received, { expected: `one zstd frame without dictionary, window at most ${largestWindow} bytes` });
