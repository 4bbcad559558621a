import type { ByteRange } from "../../../bytes/ranges.js";
import type { FileVersion } from "../../../storage/fileSystem/fileVersion.js";
import type { PackedError } from "./packError.js";
import type { PieceRun, PieceSizes, StoredPart, StoredParts } from "./parts.js";

/** A file and the version that it has to have. */
export interface PinnedFile {
  readonly handle: FileSystemFileHandle;
  readonly version: FileVersion;
}

/** What a worker is told. */
export type ToWorker =
  /**
   * Begins a job; the bytes stand in `file`, of which the worker asks for more parts until there are none, or come with the messages that
   * follow, from byte `start` of the file on.
   */
  | {
      readonly kind: "decode";
      /** The zstd decoder; undefined where WebAssembly is refused. */
      readonly module: WebAssembly.Module | undefined;
      readonly job: StoredParts;
      readonly bytes: { readonly file: PinnedFile } | { readonly start: number };
      readonly pieces: PieceSizes;
    }
  /** Looks where a long zstd frame can be cut. */
  | { readonly kind: "split"; readonly file: PinnedFile; readonly path: string; readonly part: StoredPart }
  /** Parts that follow in the job; none where it has all. */
  | { readonly kind: "parts"; readonly parts: readonly StoredPart[] }
  /** The next bytes of the job's run. */
  | { readonly kind: "bytes"; readonly buffer: ArrayBuffer; readonly byteLength: number }
  /** There are no more. */
  | { readonly kind: "end" }
  /** A piece's memory comes back. */
  | { readonly kind: "returned"; readonly buffer: ArrayBuffer };

/** What a worker tells. */
export type FromWorker =
  | { readonly kind: "ready" }
  | { readonly kind: "piece"; readonly buffer: ArrayBuffer; readonly runs: readonly PieceRun[] }
  /** All parts so far are decoded. */
  | { readonly kind: "more" }
  /** Memory of a `bytes` message, to be used again. */
  | { readonly kind: "taken"; readonly buffer: ArrayBuffer }
  /** The job is done; where it was to split a frame, with its parts, of which there are none where it has to stay whole. */
  | { readonly kind: "done"; readonly parts?: readonly SplitPart[] | undefined }
  | { readonly kind: "failed"; readonly error: PackedError };

/** A part of a frame that decodes by itself. */
export interface SplitPart extends ByteRange {
  readonly windowLog: number;
  readonly decodedLength: number;
}
