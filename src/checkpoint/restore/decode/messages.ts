import type { ByteRange } from "../../../bytes/ranges.js";
import type { FileVersion } from "../../../storage/fileSystem/fileVersion.js";
import type { KeptQuestion } from "../../../storage/keptStream.js";
import type { PackedError } from "./packError.js";
import type { PieceRun, PieceSizes, StoredPart, StoredParts } from "./parts.js";

/** A file and the version that it has to have. */
export interface PinnedFile {
  readonly handle: FileSystemFileHandle;
  readonly version: FileVersion;
}

/** Parts of a file that a worker reads itself, and the file, unless it is that of the share before. */
export interface FileShare extends StoredParts {
  readonly file?: PinnedFile | undefined;
}

/** Parts whose bytes come in messages, from byte `start` of their file on, or as bodies of requests for that run. */
export interface PostedParts extends StoredParts {
  readonly start: number;
  /** Tells it from other runs of a worker. */
  readonly run: number;
}

/** What a worker is told. */
export type ToWorker =
  /** Begins a job. Where the worker reads files itself, it asks for share after share until there is none. */
  | {
      readonly kind: "decode";
      /** The zstd decoder; undefined where WebAssembly is refused. */
      readonly module: WebAssembly.Module | undefined;
      readonly job: FileShare | PostedParts;
      readonly pieces: PieceSizes;
    }
  /** Looks where a long zstd frame can be cut. */
  | { readonly kind: "split"; readonly file: PinnedFile; readonly path: string; readonly part: StoredPart }
  /** The next share of the job; undefined where it has all. */
  | { readonly kind: "share"; readonly share: FileShare | undefined }
  /** The next bytes of the job's run, which begin at `offset` of its file. */
  | { readonly kind: "bytes"; readonly buffer: ArrayBuffer; readonly byteLength: number; readonly offset: number }
  /** A request to make, whose body is of the job's run. */
  | ({ readonly kind: "fetch" } & BodyRequest)
  /** The body of a request is what was asked for, and may be read. */
  | { readonly kind: "read"; readonly id: number }
  /** The body of a request is not wanted any more. */
  | { readonly kind: "drop"; readonly id: number }
  /** There are no more. */
  | { readonly kind: "end" }
  /** A piece's memory comes back. */
  | { readonly kind: "returned"; readonly buffer: ArrayBuffer };

/** What a worker tells. */
export type FromWorker =
  | { readonly kind: "ready" }
  | { readonly kind: "piece"; readonly buffer: ArrayBuffer; readonly runs: readonly PieceRun[] }
  /** Asks for the next share, as the last part of the one before begins. */
  | { readonly kind: "more" }
  /** What a request was answered, but for the body. */
  | ({ readonly kind: "answered" } & BodyAnswer)
  /** A request failed, or a body broke off. */
  | { readonly kind: "broken"; readonly id: number; readonly reason: string }
  /** A piece of a body came; with its first bytes where they are to be seen. */
  | { readonly kind: "arrived"; readonly id: number; readonly byteLength: number; readonly head?: Uint8Array | undefined }
  /** A body came to its end. */
  | { readonly kind: "arrivedAll"; readonly id: number }
  /** Memory of a `bytes` message, to be used again. */
  | { readonly kind: "taken"; readonly buffer: ArrayBuffer }
  /** The job is done; where it was to split a frame, with its parts, of which there are none where it has to stay whole. */
  | { readonly kind: "done"; readonly parts?: readonly SplitPart[] | undefined }
  | { readonly kind: "failed"; readonly error: PackedError };

/** A request that a worker makes, to keep the body. */
export interface BodyRequest extends KeptQuestion {
  readonly id: number;
  /** The run that the body is of. */
  readonly run: number;
  readonly url: string;
  /** What `fetch` takes, as plain data. */
  readonly init: RequestInit;
}

/** An answer to it. */
export interface BodyAnswer {
  readonly id: number;
  readonly status: number;
  readonly headers: [name: string, value: string][];
  readonly url: string;
  readonly type: ResponseType;
  /** False where it brought no part of a file: the body was given up. */
  readonly isKept: boolean;
  /** How the body of a refusal that may pass begins: it may say why. */
  readonly refusal?: Uint8Array<ArrayBuffer> | undefined;
}

/** A part of a frame that decodes by itself. */
export interface SplitPart extends ByteRange {
  readonly windowLog: number;
  readonly decodedLength: number;
}
