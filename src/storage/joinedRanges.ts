import { type ByteRange, endOf } from "../bytes/ranges.js";
import type { ReadableStorage } from "./storage.js";
import { streamRange } from "./streamRange.js";

/** A storage in which every path is the same: runs of bytes of one file, one after the other. */
export function joinedRanges(storage: ReadableStorage, path: string, ranges: readonly ByteRange[]): ReadableStorage {
  const stream: NonNullable<ReadableStorage["stream"]> = async function* (_path, range, options) {
    for (const part of partsOf(ranges, range)) yield* streamRange(storage, path, part, options);
  };
  return {
    ...(storage.name !== undefined && { name: storage.name }),
    list: async () => ({ files: [], directories: [] }),
    stream,
    async read(_path, { range, signal } = {}) {
      const { offset, length } = range ?? { offset: 0, length: ranges.reduce((sum, part) => sum + part.length, 0) };
      const bytes = new Uint8Array(length);
      let filled = 0;
      for await (const piece of stream(path, { offset, length }, { signal })) {
        bytes.set(piece, filled);
        filled += piece.length;
      }
      return bytes;
    },
  };
}

/** The parts of the file that a range of the joined bytes is made of. */
function* partsOf(ranges: readonly ByteRange[], wanted: ByteRange): Generator<ByteRange> {
  let before = 0;
  for (const range of ranges) {
    const start = Math.max(wanted.offset - before, 0);
    const end = Math.min(endOf(wanted) - before, range.length);
    if (start < end) yield { offset: range.offset + start, length: end - start };
    before += range.length;
  }
}
