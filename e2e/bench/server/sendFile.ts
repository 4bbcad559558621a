import { once } from "node:events";
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { extname } from "node:path";
import type { ServedBytes } from "./fileCache.js";
import type { SharedLink } from "./sharedLink.js";

const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

/** Bytes that go onto a slow link at once. */
const linkBytes = 64 * 1024;

/** Answers with a file or the one range of it that was asked for, through a slow link where one is given. */
export async function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  file: ServedBytes,
  headers: OutgoingHttpHeaders,
  link?: SharedLink,
): Promise<void> {
  const { start, end, partial } = rangeOf(request.headers.range, file.size);
  await link?.answer();
  response.writeHead(partial ? 206 : 200, {
    ...headers,
    "content-type": types[extname(path)] ?? "application/octet-stream",
    "content-length": end - start,
    "accept-ranges": "bytes",
    "cache-control": "no-store",
    etag: `"${file.size}"`,
    ...(partial ? { "content-range": `bytes ${start}-${end - 1}/${file.size}` } : {}),
  });
  for await (const piece of file.pieces(start, end)) {
    for (const part of link === undefined ? [piece] : partsOf(piece)) {
      await link?.pass(part.byteLength);
      if (response.destroyed) return;
      if (!response.write(part)) await drained(response);
    }
  }
  response.end();
}

/** Waits until more can be written, or the browser is gone. */
async function drained(response: ServerResponse): Promise<void> {
  const settled = new AbortController();
  const { signal } = settled;
  await Promise.race([once(response, "drain", { signal }), once(response, "close", { signal })]);
  settled.abort();
}

function* partsOf(piece: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < piece.byteLength; at += linkBytes) yield piece.subarray(at, at + linkBytes);
}

/** The bytes that a Range header asks for; all of them without one. */
export function rangeOf(header: string | undefined, size: number): { start: number; end: number; partial: boolean } {
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(header ?? "") ?? [];
  if (first === undefined || Number(first) >= size) return { start: 0, end: size, partial: false };
  const end = last === undefined || last === "" ? size : Math.min(Number(last) + 1, size);
  return { start: Number(first), end, partial: true };
}
