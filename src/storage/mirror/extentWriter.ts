import { StorageError } from "../../errors.js";
import type { FileWriter } from "../fileWriter.js";

/** An extent that is being kept. */
export interface ExtentWriter extends Pick<FileWriter, "write"> {
  /** Makes an extent of what was written; of nothing after a write that failed. @returns its bytes. */
  end(): Promise<number>;
}

/**
 * Writes an extent into the file that grows.
 * @param name Makes an extent of what is in the file, if that has at least so many bytes, and tells how many it has; undefined where it is gone.
 */
export function extentWriter(path: string, growing: FileWriter, name: (least: number) => Promise<number | undefined>): ExtentWriter {
  let written = 0;
  let hasFailed = false;
  return {
    async write(bytes) {
      hasFailed = true;
      await growing.write(bytes);
      hasFailed = false;
      written += bytes.length;
    },
    async end() {
      const failure = hasFailed ? undefined : await failureOf(growing.close());
      // Does nothing where it is closed.
      await growing.abort();
      // Of a file that could not be written to its end nothing is sure: bytes before that may be missing, too.
      const kept = await name(hasFailed || failure !== undefined ? Number.POSITIVE_INFINITY : written);
      if (failure !== undefined) throw failure;
      if (kept !== undefined && kept < written && !hasFailed) throw tooFewBytes(path);
      return kept ?? 0;
    },
  };
}

const failureOf = (work: Promise<void>): Promise<Error | undefined> =>
  work.then(
    () => undefined,
    (cause: unknown) => (cause instanceof Error ? cause : new Error(String(cause))),
  );

const tooFewBytes = (path: string): StorageError =>
  new StorageError({ path, reason: "quota", message: "the cache took fewer bytes than it said; free space on the disk" });
