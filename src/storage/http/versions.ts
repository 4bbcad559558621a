import type { Answer } from "./answer.js";
import { parseContentRange } from "./contentRange.js";
import { changed } from "./failures.js";
import type { HttpTarget } from "./target.js";

/** What the headers say of a file's version; each may be hidden or never sent. */
export interface FileVersion {
  /** Strong ETag; a weak one does not promise the same bytes and differs between a host's machines. */
  readonly etag?: string | undefined;
  readonly modified?: string | undefined;
  /** Total of a Content-Range, in bytes; Content-Length may be that of a compressed body. */
  readonly size?: number | undefined;
}

/** Keeps each file at the version of its first answer. */
export class Versions {
  readonly #pinned = new Map<string, FileVersion>();

  /** Pins the version of a file; closes the answer and throws StorageError `"changed"` where another is pinned. */
  check(target: HttpTarget, answer: Pick<Answer, "headers" | "close">): void {
    const version = versionOf(answer.headers);
    const pinned = this.#pinned.get(target.path) ?? {};
    const how = differenceOf(pinned, version);
    if (how !== undefined) {
      answer.close();
      throw changed(target, how);
    }
    this.#pinned.set(target.path, {
      etag: pinned.etag ?? version.etag,
      modified: pinned.modified ?? version.modified,
      size: pinned.size ?? version.size,
    });
  }
}

function versionOf(headers: Headers): FileVersion {
  const etag = headers.get("etag")?.trim();
  return {
    etag: etag?.startsWith('"') ? uncompressed(etag) : undefined,
    modified: headers.get("last-modified") ?? undefined,
    size: parseContentRange(headers.get("content-range"))?.size,
  };
}

// Apache and Jetty mark the ETag of a file that they compress on its way; the file is the same.
const uncompressed = (etag: string) => etag.replace(/(-{1,2}|;)(gzip|br|deflate|zstd)"$/, '"');

function differenceOf(pinned: FileVersion, version: FileVersion): string | undefined {
  if (differs(pinned.size, version.size)) return `${pinned.size} bytes, then ${version.size}`;
  if (differs(pinned.etag, version.etag)) return `ETag ${pinned.etag}, then ${version.etag}`;
  // Machines that share one ETag may still have written the file at different times.
  if (pinned.etag !== undefined && version.etag !== undefined) return undefined;
  return differs(pinned.modified, version.modified) ? `last modified ${pinned.modified}, then ${version.modified}` : undefined;
}

const differs = (a: string | number | undefined, b: string | number | undefined) => a !== undefined && b !== undefined && a !== b;
