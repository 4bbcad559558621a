import { type ByteRange, endOf } from "../../bytes/ranges.js";
import { isCheckpointError, StorageError } from "../../errors.js";
import { mayPass } from "../http/refusal.js";
import type { KeptFile } from "./keptFile.js";

/** True where the source could not be asked, or is not able to answer now; what it answered otherwise counts. */
export const isUnanswered = (error: unknown): boolean =>
  isCheckpointError(error, "Storage") && (error.reason === "network" || (error.reason === "status" && mayPass(error.status ?? 0)));

/** The error for bytes, or a whole file, that are not in the cache while the source gives no answer. */
export function missingOffline({ path, byteLength, record }: KeptFile, range: ByteRange | undefined, cause: unknown): unknown {
  if (!isCheckpointError(cause, "Storage") || cause.reason !== "network") return cause;
  const what = range === undefined ? "the file is" : `bytes ${range.offset} to ${endOf(range)} are`;
  const has = byteLength === 0 ? "none of it" : `${byteLength} of its ${record?.size ?? "unknown number of"} bytes`;
  const why = cause.message.replace(`${cause.url ?? cause.path}: `, "");
  return new StorageError({
    path,
    url: cause.url,
    reason: "network",
    message: `${what} not in the mirror, which has ${has}, and the source gave ${why}; once connected, read it or call the mirror's download()`,
    cause,
  });
}

/** The error for a folder whose list is not in the cache while the source gives no answer. */
export const unlistedOffline = (prefix: string, cause: unknown): StorageError =>
  new StorageError({
    path: prefix,
    reason: "cannot-list",
    message: "the folder's list is not in the mirror, and the source gives no answer; connect and list it once, or name the step",
    cause,
  });

/** The error for a file whose bytes are of another version than those that were kept or read before. */
export const changedSource = (path: string, how: string): StorageError =>
  new StorageError({
    path,
    reason: "changed",
    message: `the source changed while it was read (${how}), and the mirror starts anew; open the checkpoint again`,
  });
