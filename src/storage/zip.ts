import { type Rule, requireArgument, requireOptions, shown } from "../arguments.js";
import { endOf } from "../bytes/ranges.js";
import { SharedTask } from "../tasks/shared.js";
import { withCheckedOptions } from "./checkedOptions.js";
import { fileTooLong, lengthError } from "./lengthError.js";
import { listingOf } from "./listing.js";
import { requirePath, requirePrefix, requireRange } from "./paths.js";
import type { ReadableStorage } from "./storage.js";
import { absentFileError } from "./streamRange.js";
import { piecesOfEntry } from "./zip/zipFile.js";
import { nameOf, readZipIndex, type ZipIndex } from "./zip/zipIndex.js";

/** Options of {@link zipStorage}. */
export interface ZipStorageOptions {
  /** Most bytes that the ZIP may unpack to; by default a hundred times its own, and at least 4 GiB. */
  readonly mostBytes?: number | undefined;
}

const leastMostBytes = 4 * 1024 ** 3;

/** By what is called on it: other realms have blobs too. */
const aBlob: Rule = {
  expected: "a File or Blob; make one of bytes in memory with new Blob([bytes])",
  accepts: (value) =>
    typeof (value as Partial<Blob> | null | undefined)?.slice === "function" && typeof (value as Blob).arrayBuffer === "function",
  shown,
};

const zipRules = {
  mostBytes: { expected: "a number of bytes", accepts: (value: unknown) => typeof value === "number" && value >= 0, shown },
};

/**
 * The files in a ZIP, read from where they are: a `File` that a user picked stays on disk, and only what is asked for is unpacked. A folder
 * that holds everything is left out of the paths, unless a number names it. Read only. The first call checks all entries, and every call
 * throws where one is refused: paths that leave the ZIP, paths that are there twice or differ only by case, links, encrypted entries, entries
 * that share bytes, and more bytes than `mostBytes`. Stored and deflated entries and ZIP64 are read.
 */
export function zipStorage(zip: Blob, options: ZipStorageOptions = {}): ReadableStorage {
  requireArgument("what zipStorage takes", zip, aBlob);
  requireOptions("zipStorage", options, zipRules);
  const { mostBytes = Math.max(leastMostBytes, zip.size * 100) } = options;
  let reading: SharedTask<ZipIndex> | undefined;
  const index = (signal: AbortSignal | undefined): Promise<ZipIndex> => {
    if (reading === undefined || reading.abandoned) reading = new SharedTask((shared) => readZipIndex(zip, mostBytes, { signal: shared }));
    return reading.join({ signal });
  };
  return withCheckedOptions<ReadableStorage>({
    name: nameOf(zip),

    async read(path, { range, longest, signal } = {}) {
      requirePath(path);
      if (range !== undefined) requireRange(range);
      const entry = (await index(signal)).get(path);
      if (entry === undefined) return undefined;
      const size = entry.uncompressedSize;
      if (range === undefined && longest !== undefined && size > longest) throw fileTooLong(path, longest);
      const wanted = range ?? { offset: 0, length: size };
      if (endOf(wanted) > size) throw lengthError(path, wanted, size);
      const bytes = new Uint8Array(wanted.length);
      let at = 0;
      for await (const piece of piecesOfEntry(zip, entry, wanted, { signal })) {
        bytes.set(piece, at);
        at += piece.length;
      }
      return bytes;
    },

    async list(prefix, { signal } = {}) {
      requirePrefix(prefix);
      return listingOf((await index(signal)).keys(), prefix);
    },

    async size(path, { signal } = {}) {
      requirePath(path);
      return (await index(signal)).get(path)?.uncompressedSize;
    },

    async *stream(path, range, { signal } = {}) {
      requirePath(path);
      requireRange(range);
      const entry = (await index(signal)).get(path);
      if (entry === undefined) throw absentFileError(path, range);
      if (endOf(range) > entry.uncompressedSize) throw lengthError(path, range, entry.uncompressedSize);
      yield* piecesOfEntry(zip, entry, range, { signal });
    },
  });
}
