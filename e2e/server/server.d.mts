/** A file as the server sees it; `read` gives the bytes from `start` up to `end`, made on the fly if you like. */
export interface ServedFile {
  readonly size: number;
  /** With its quotes, such as `"v1"` or `W/"v1"`; none: no ETag is sent. */
  readonly etag?: string | undefined;
  readonly lastModified?: Date | undefined;
  readonly contentType?: string | undefined;
  read(start: number, end: number): AsyncIterable<Uint8Array>;
}

/** A folder on disk, files by path (with or without a leading slash), or a function from a decoded path such as `/a/b`. */
export type ServerRoot =
  | string
  | Map<string, Uint8Array | ServedFile>
  | ((path: string) => ServedFile | Uint8Array | undefined | Promise<ServedFile | Uint8Array | undefined>);

export type IndexStyle = "python" | "nginx" | "apache";

/** One misbehaviour; see each kind. */
export type FaultKind =
  /** Answers 200 and the whole file to a range, as `python -m http.server` does. */
  | { readonly kind: "ignore-range" }
  /** Compresses: a range is one of the compressed file, as GitHub Pages does; `of: "part"` compresses the range. `hidden`: without saying so. */
  | { readonly kind: "gzip"; readonly of?: "file" | "part"; readonly hidden?: boolean }
  /** No Access-Control-Expose-Headers, and (as Node does not hide them) no Content-Range, ETag, Last-Modified, Retry-After. */
  | { readonly kind: "hide-headers" }
  /** Ends the connection after so many bytes of the body; 0: before any header. */
  | { readonly kind: "cut"; readonly afterBytes: number }
  /** Answers with a status. */
  | {
      readonly kind: "status";
      readonly status: number;
      readonly retryAfter?: string | number;
      readonly body?: string;
      readonly contentType?: string;
    }
  /** A body instead of the file; ranges of it only where `ranges` says so. `status` is 200 unless given. */
  | {
      readonly kind: "body";
      readonly body: string | Uint8Array;
      readonly contentType?: string;
      readonly ranges?: boolean;
      readonly etag?: string;
    }
  /** Other bytes under the same name; `etag: false` keeps ETag and Last-Modified as they were. */
  | { readonly kind: "replace"; readonly bytes: Uint8Array; readonly etag?: boolean }
  /** A body that ends `by` bytes early, and whose Content-Length says so. */
  | { readonly kind: "short"; readonly by: number }
  /** A body with `by` bytes too many. */
  | { readonly kind: "long"; readonly by: number }
  /** A range that starts `by` bytes later than asked, with an honest Content-Range. */
  | { readonly kind: "shift"; readonly by: number }
  /** No further byte after `afterBytes` of the body (undefined: no answer at all), and no end. */
  | { readonly kind: "hang"; readonly afterBytes?: number }
  | { readonly kind: "slow"; readonly latencyMs?: number; readonly bytesPerSecond?: number }
  /** 403 to OPTIONS. */
  | { readonly kind: "no-preflight" }
  | { readonly kind: "redirect"; readonly location: string; readonly status?: number };

export type Fault = FaultKind & {
  /** A decoded path such as `/run/d/abc`, or a pattern; none: every path. */
  readonly path?: string | RegExp;
  /** How often; none: always. */
  readonly times?: number;
  /** Matching requests that go well first. */
  readonly after?: number;
  /** Only requests with (`true`) or without (`false`) a Range header. */
  readonly ranged?: boolean;
};

/** An answer that is no file. */
export interface OwnAnswer {
  /** 200 unless given. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Answers a request itself; undefined: the roots serve it. */
export type ServerHandler = (request: ServedRequest) => OwnAnswer | undefined;

export interface ServerOptions {
  readonly root: ServerRoot;
  /** Asked before the roots, as hosts with an API are; see the fakes beside this file. */
  readonly handler?: ServerHandler;
  /** Further roots by path prefix, such as `{ "/data/": folder }`; the longest that fits wins. */
  readonly mounts?: Readonly<Record<string, ServerRoot>>;
  /** 0 (default): a free one. */
  readonly port?: number;
  /** 127.0.0.1 unless given. */
  readonly host?: string;
  /** CORS headers for every origin, and answers to preflights (default true). */
  readonly cors?: boolean;
  /** COOP and COEP, so that the page gets SharedArrayBuffer (default false). */
  readonly isolated?: boolean;
  readonly faults?: readonly Fault[];
  readonly latencyMs?: number;
  readonly bytesPerSecond?: number;
  /** Sent with every answer, such as `{ "cache-control": "no-store" }`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Style of directory pages (default `"python"`); `"none"`: 404. */
  readonly index?: IndexStyle | "none";
}

export interface ServedRequest {
  readonly method: string;
  /** Decoded, without query. */
  readonly path: string;
  /** As sent, with query. */
  readonly target: string;
  /** The Range header as sent. */
  readonly range: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** 0 until answered. */
  status: number;
  /** Bytes of the body handed to the connection so far. */
  bytes: number;
  /** The client went before the body was complete. */
  aborted: boolean;
}

export interface RunningServer {
  /** Such as `http://127.0.0.1:4321`, without a slash at the end. */
  readonly url: string;
  readonly requests: readonly ServedRequest[];
  /** Most requests under way at once since the last reset. */
  readonly peakRequests: number;
  resetRequests(): void;
  /** Adds a fault; the returned function takes it away. */
  addFault(fault: Fault): () => void;
  clearFaults(): void;
  close(): Promise<void>;
}

/** Starts a real HTTP server with single ranges, directory pages, and the misbehaviour of `faults`. */
export function startServer(options: ServerOptions): Promise<RunningServer>;

/** What a single-page app's host answers for any path. */
export const appPage: string;

/** What stands in a Git checkout without LFS instead of a file. */
export function lfsPointer(size: number): string;

/** An error as S3 prints it. */
export function s3Error(code: string): string;
