import type { ByteRange } from "../../bytes/ranges.js";
import { blockWithoutSequences, longestStart } from "./blockStart.js";
import { ZstdDamage } from "./damage.js";
import { blockLimit, largestBlock, longestHeader, parseFrameHeader, type ZstdFrameHeader } from "./frameHeader.js";

/** Puts bytes of a file, from `offset` on, at the start of `into` and says how many; fewer only at the file's end. */
export type ReadAt = (offset: number, into: Uint8Array) => number;

/** Blocks of a frame, by their place in the file, that decode to `decodedLength` bytes without what was before them. */
export interface ZstdPart extends ByteRange {
  readonly decodedLength: number;
}

/** A frame cut into parts, in order, for `ZstdDecoder.beginBlocks`. */
export interface ZstdSplit {
  /** Log2 of the window to decode the parts with; they look back at nothing, so it is a block's. */
  readonly windowLog: number;
  readonly parts: readonly ZstdPart[];
}

/** Blocks that a frame may have, of so many bytes on average: each costs a read. */
const smallestAverage = 4096;

/**
 * Cuts a long frame where it can be decoded from: float weights are noise, in which zstd finds no matches, so their blocks need no
 * others but for Huffman tables. A part starts where the next table is a block's own, and no block may have sequences (they refer
 * to decoded bytes, and go on from the offsets and tables of the sequences before them). Reads 8 bytes a block.
 * @param decodedLength bytes that the frame has to decode to
 * @param partLength compressed bytes of a part, about
 * @returns undefined where the frame has to be decoded as a whole: it depends on itself, is too short, carries a checksum, or is damaged.
 */
export function splitFrame(read: ReadAt, frame: ByteRange, decodedLength: number, partLength = 4 * 1024 * 1024): ZstdSplit | undefined {
  const header = headerOf(read, frame);
  if (header === undefined || header.hasChecksum || (header.contentSize ?? decodedLength) !== decodedLength) return undefined;
  const cuts = cutsOf(read, { offset: frame.offset + header.byteLength, length: frame.length - header.byteLength }, header, partLength);
  if (cuts === undefined || cuts.length < 3 || cuts[0]?.decoded !== 0 || cuts.at(-1)?.decoded !== decodedLength) return undefined;
  return { windowLog: Math.ceil(Math.log2(Math.max(1024, Math.min(header.windowSize, largestBlock)))), parts: partsOf(cuts) };
}

function headerOf(read: ReadAt, frame: ByteRange): ZstdFrameHeader | undefined {
  const bytes = new Uint8Array(longestHeader);
  const count = read(frame.offset, bytes);
  try {
    return parseFrameHeader(bytes.subarray(0, Math.min(count, frame.length)));
  } catch (error) {
    if (error instanceof ZstdDamage) return undefined;
    throw error;
  }
}

/** The start of a block: its place in the file, and the decoded bytes before it. */
interface Cut {
  readonly offset: number;
  readonly decoded: number;
}

/** Where parts start, and last where the blocks end; undefined where a block needs another, or is damaged. */
function cutsOf(read: ReadAt, blocks: ByteRange, header: ZstdFrameHeader, partLength: number): Cut[] | undefined {
  const end = blocks.offset + blocks.length;
  const cuts: Cut[] = [];
  /** A cut that holds where the next Huffman table is a block's own. */
  let pending: Cut | undefined = { offset: blocks.offset, decoded: 0 };
  let at = pending;
  const bytes = new Uint8Array(longestStart);
  for (let left = blocks.length / smallestAverage + 64; left > 0; left--) {
    const count = Math.min(read(at.offset, bytes), end - at.offset);
    const block = blockWithoutSequences(bytes.subarray(0, count), blockLimit(header));
    if (block === undefined) return undefined;
    if (pending === undefined && isDue(at, cuts, partLength)) pending = at;
    if (pending !== undefined && block.table !== "none") {
      if (block.table === "own") cuts.push(pending);
      pending = undefined;
    }
    at = { offset: at.offset + block.byteLength, decoded: at.decoded + block.decodedLength };
    if (block.isLast) return at.offset === end ? [...cuts, ...(pending === undefined ? [] : [pending]), at] : undefined;
  }
  return undefined;
}

const isDue = (at: Cut, cuts: readonly Cut[], partLength: number) => at.offset - (cuts.at(-1)?.offset ?? 0) >= partLength;

const partsOf = (cuts: readonly Cut[]): ZstdPart[] =>
  cuts.slice(1).map((to, index) => {
    const { offset, decoded } = cuts[index] ?? to;
    return { offset, length: to.offset - offset, decodedLength: to.decoded - decoded };
  });
