import Zstd from "numcodecs/zstd";

/** Decoded bytes of a block: the most that a block may have. */
export const blockBytes = 128 * 1024;

/** Window of Orbax's frames (zstd level 1), as a frame header says it: 2^19 bytes. */
const windowDescriptor = (19 - 10) << 3;

/**
 * Has libzstd compress 128 KiB into one block that decodes alone: Huffman-coded literals with their own table and no matches,
 * which is what Orbax's frames of trained weights consist of.
 * @throws Error where libzstd makes anything else of these bytes.
 */
export async function huffmanBlock(content: Uint8Array): Promise<Uint8Array> {
  const frame = await Zstd.fromConfig({ id: "zstd", level: 1 }).encode(content);
  const block = frame.subarray(headerBytes(frame));
  const bits = uint24(block);
  const size = bits >>> 3;
  if ((bits & 1) !== 1 || block.byteLength !== 3 + size) throw new Error("the encoder made more than one block");
  if (((bits >>> 1) & 3) !== 2) throw new Error("the encoder did not compress the block");
  requireHuffmanOnly(block.subarray(3));
  return asBlock(block, false);
}

/** A frame of such blocks, in pieces that are not copied. */
export function frameOf(blocks: readonly Uint8Array[]): Uint8Array[] {
  const last = blocks.at(-1);
  if (last === undefined) throw new Error("a frame has a block");
  const header = new Uint8Array(10);
  const view = new DataView(header.buffer);
  view.setUint32(0, 0xfd2fb528, true);
  view.setUint8(4, 0b1000_0000); // content size in four bytes, a window, no checksum
  view.setUint8(5, windowDescriptor);
  view.setUint32(6, blocks.length * blockBytes, true);
  return [header, ...blocks.slice(0, -1), asBlock(last, true)];
}

const uint24 = (bytes: Uint8Array): number => (bytes[0] ?? 0) | ((bytes[1] ?? 0) << 8) | ((bytes[2] ?? 0) << 16);

/** Length of the header that begins a frame (RFC 8878, 3.1.1.1). */
function headerBytes(frame: Uint8Array): number {
  const descriptor = frame[4] ?? 0;
  const singleSegment = (descriptor & 0x20) !== 0;
  const contentSize = [singleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  return 5 + (singleSegment ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] ?? 0) + contentSize;
}

function asBlock(block: Uint8Array, last: boolean): Uint8Array {
  const copy = block.slice();
  copy[0] = ((copy[0] ?? 0) & 0xfe) | (last ? 1 : 0);
  return copy;
}

/** RFC 8878, 3.1.1.3: the literals section, of the largest header format, and a sequences section that says 0. */
function requireHuffmanOnly(content: Uint8Array): void {
  const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0] = content;
  if ((first & 3) !== 2) throw new Error(`the block's literals have the type ${first & 3}, not a Huffman table of their own`);
  if (((first >> 2) & 3) !== 3) throw new Error("the block's literals are fewer than expected");
  const compressed = (third >> 6) | (fourth << 2) | (fifth << 10);
  const regenerated = (first >> 4) | (second << 4) | ((third & 0x3f) << 12);
  if (regenerated !== blockBytes) throw new Error(`the block has ${regenerated} literals`);
  if (content.byteLength !== 5 + compressed + 1 || content.at(-1) !== 0) throw new Error("the block has sequences");
}
