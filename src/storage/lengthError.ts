import { type ByteRange, endOf } from "../bytes/ranges.js";
import { StorageError } from "../errors.js";

/** The error for a range that reaches past the end of a file of `size` bytes. */
export function lengthError(path: string, range: ByteRange, size: number, url?: string): StorageError {
  return new StorageError({
    path,
    url,
    reason: "length",
    message: `the file has ${size} bytes, but bytes ${range.offset} to ${endOf(range)} were asked for; it is shorter than its index says: copy the checkpoint again`,
  });
}

/** The error for a whole file that has more bytes than were allowed. */
export function fileTooLong(path: string, longest: number, url?: string): StorageError {
  return new StorageError({
    path,
    url,
    reason: "length",
    message: `the file has more than the ${longest} bytes that one of its kind may have; check that the address is a checkpoint's`,
  });
}

/** The bytes of `range` as a view into a whole file; throws {@link lengthError}. */
export function sliceOf(path: string, file: Uint8Array, range: ByteRange, url?: string): Uint8Array {
  if (endOf(range) > file.byteLength) throw lengthError(path, range, file.byteLength, url);
  return file.subarray(range.offset, endOf(range));
}
