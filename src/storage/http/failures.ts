import { type ByteRange, endOf } from "../../bytes/ranges.js";
import { StorageError } from "../../errors.js";
import { type Impostor, impostorMessages } from "./sniff.js";
import type { HttpTarget } from "./target.js";

/** The connection failed: nothing was answered, or the body ended early or stood still. */
export class TransportError extends Error {
  override readonly name = "TransportError";
}

/** A browser would follow a redirect, it does not say where to, and carry these headers along. */
export class HiddenRedirectError extends Error {
  override readonly name = "HiddenRedirectError";
  readonly headers: readonly string[];

  constructor(headers: readonly string[]) {
    super("a redirect that a page cannot see");
    this.headers = headers;
  }
}

const timesTried = (tries: number) => (tries === 1 ? "1 try" : `${tries} tries`);

/** No answer at all. */
export function unreachable({ path, label }: HttpTarget, tries: number, cause: unknown): StorageError {
  return new StorageError({
    path,
    url: label,
    reason: "network",
    message: `no answer after ${timesTried(tries)}; check the address and the connection, and in a browser that the server allows this page's origin (Access-Control-Allow-Origin): a refusal by CORS looks the same, and so does a file that is not there, where the server leaves that header out of its 404 answers`,
    cause,
  });
}

/** Headers that hold credentials would go along to a place that is not known. */
export function hiddenRedirect({ path, label }: HttpTarget, headers: readonly string[]): StorageError {
  return new StorageError({
    path,
    url: label,
    reason: "status",
    message: `the server redirects, and a browser, which does not say where to, would send ${headers.join(", ")} there, too; use the final address, or Authorization, which browsers leave out for another origin`,
  });
}

/** The body ended, or stood still, before its last byte. */
export function interrupted({ path, label }: HttpTarget, tries: number, cause: unknown): StorageError {
  return new StorageError({
    path,
    url: label,
    reason: "network",
    message: `the connection broke within the file, in ${timesTried(tries)}; try again, or check the server and what stands between`,
    cause,
  });
}

/** A body that is complete by the server's word, but not as long as the range. */
export function wrongLength({ path, label }: HttpTarget, range: ByteRange, received: string): StorageError {
  return new StorageError({
    path,
    url: label,
    reason: "length",
    message: `bytes ${range.offset} to ${endOf(range)} were asked for, but the server sent ${received}; the file is shorter than its index says, or a proxy changes it: copy the checkpoint again, and serve it uncompressed`,
  });
}

/** Why parts of a file are not to be had. */
export type PartlessReason = "no-ranges" | "encoding";

/** The file is too large to be taken whole, and the server gives no usable part of it. */
export function wholeTooLarge({ path, label }: HttpTarget, reason: PartlessReason, limit: number): StorageError {
  const why = {
    "no-ranges": "the server ignores Range requests (as `python -m http.server` does)",
    encoding: "the server compresses its answers to Range requests",
  };
  const remedy = {
    "no-ranges": "use a server with Range support (nginx, Caddy, an object store)",
    encoding: "switch compression off for these files (serve them as application/octet-stream)",
  };
  return new StorageError({
    path,
    url: label,
    reason,
    message: `${why[reason]} and the file is larger than the ${limit} bytes that may be taken whole; ${remedy[reason]}, or raise wholeFileBytes`,
  });
}

/** The file is not what it was at the first read. */
export function changed({ path, label }: HttpTarget, how: string): StorageError {
  return new StorageError({
    path,
    url: label,
    reason: "changed",
    message: `the file changed between two reads (${how}); open the checkpoint again, once nobody writes to it`,
  });
}

/** Something else was sent instead of the file. */
export function notTheFile({ path, label }: HttpTarget, impostor: Impostor): StorageError {
  return new StorageError({ path, url: label, reason: "not-a-checkpoint", message: impostorMessages[impostor] });
}

/** No list of a folder's entries. */
export function cannotList({ path, label }: HttpTarget, why: string, status?: number): StorageError {
  return new StorageError({
    path,
    url: label,
    reason: "cannot-list",
    status,
    message: `${why}; name the step instead of listing, or let the host list the folder, or put a list there with writeIndex() (docs/hosting.md)`,
  });
}

/** An answer that says neither yes nor no; `body` may hold an object store's error code, nothing else of it is shown. */
export function refused({ path, label }: HttpTarget, status: number, body: string, tries = 1): StorageError {
  const code = /<Code>([A-Za-z]{1,64})<\/Code>/.exec(body)?.[1];
  const tried = tries > 1 ? ` after ${timesTried(tries)}` : "";
  return new StorageError({
    path,
    url: label,
    reason: "status",
    status,
    message: `the server answered ${status}${code === undefined ? "" : ` (${code})`}${tried}; ${isElsewhere(code) ? otherRegion : adviceFor(status)}`,
  });
}

const isElsewhere = (code: string | undefined): boolean =>
  ["PermanentRedirect", "TemporaryRedirect", "IllegalLocationConstraintException"].includes(code ?? "");

const otherRegion = "the bucket lies in another region: give httpStorage's region, or the bucket's address there";

function adviceFor(status: number): string {
  if (status === 0)
    return 'such an answer hides everything: fetch without mode "no-cors", and let the server send Access-Control-Allow-Origin';
  if (status === 401) {
    return "credentials are missing or wrong: pass them with httpStorage's headers; Hugging Face answers so for repositories that do not exist, and Google Cloud Storage for absent files of buckets that strangers may not list: pass absentStatus: [401] for such a bucket";
  }
  if (status === 407) return "credentials for a proxy are missing or wrong";
  if (status === 403) {
    return "credentials, rights or a fresh signed URL are missing; an S3 bucket that may not be listed answers 403 for absent files: pass absentStatus: [403] for it";
  }
  if (status === 429) return "it wants fewer requests: wait, or lower httpStorage's concurrency";
  if (status >= 500 || status === 408) return "the server or a proxy fails: try again later";
  if (status >= 300 && status < 400) return "it redirects without end or without an address: use the final address";
  return "open the address to see why";
}
