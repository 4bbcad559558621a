import { factsDifference, joinFacts } from "../fileFacts.js";
import type { FileFacts } from "../storage.js";
import type { Answer } from "./answer.js";
import { parseContentRange } from "./contentRange.js";
import { changed } from "./failures.js";
import type { HttpTarget } from "./target.js";

/** Keeps each file at the version of its first answer. */
export class Versions {
  readonly #pinned = new Map<string, FileFacts>();

  /** Pins the version of a file; closes the answer and throws StorageError `"changed"` where another is pinned. */
  check(target: HttpTarget, answer: Pick<Answer, "headers" | "close">): void {
    const version = factsOf(answer.headers);
    const pinned = this.#pinned.get(target.path) ?? {};
    const how = factsDifference(pinned, version);
    if (how !== undefined) {
      answer.close();
      throw changed(target, how);
    }
    this.#pinned.set(target.path, joinFacts(pinned, version));
  }

  /** What the answers so far told. */
  of({ path }: HttpTarget): FileFacts {
    return this.#pinned.get(path) ?? {};
  }
}

/** What the headers say of a file's version. The size is the total of a Content-Range: Content-Length may be that of a compressed body. */
export function factsOf(headers: Headers): FileFacts {
  const etag = headers.get("etag")?.trim();
  return {
    etag: etag?.startsWith('"') ? uncompressed(etag) : undefined,
    modified: headers.get("last-modified") ?? undefined,
    size: parseContentRange(headers.get("content-range"))?.size,
  };
}

// Apache and Jetty mark the ETag of a file that they compress on its way; the file is the same.
const uncompressed = (etag: string) => etag.replace(/(-{1,2}|;)(gzip|br|deflate|zstd)"$/, '"');
