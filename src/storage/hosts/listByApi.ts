import { cannotList } from "../http/failures.js";
import type { HttpSession } from "../http/session.js";
import type { HttpTarget } from "../http/target.js";
import { listingOf } from "../listing.js";
import type { StorageListing } from "../storage.js";
import type { HostApi } from "./api.js";
import { type ApiPage, type ApiReader, withQuery } from "./apiPage.js";
import { gcsReader } from "./gcs.js";
import { huggingFaceReader } from "./huggingFace.js";
import { type HostText, readText } from "./readText.js";
import { s3Reader } from "./s3.js";

/** Most entries of a folder that are listed, and most pages; hosts send up to 1000 entries at once. */
const mostKeys = 1_000_000;
const mostPages = 1000;

/** How often a request of it is tried again, instead of the usual number. */
export interface ApiListOptions {
  readonly retries?: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * Entries of a folder, as the host's API lists them, page after page.
 * @throws StorageError `"cannot-list"` where the host refuses or answers something else, else as a read.
 */
export async function listByApi(session: HttpSession, api: HostApi, prefix: string, options: ApiListOptions): Promise<StorageListing> {
  const reader = readerOf(api);
  const whole = api.prefix + prefix;
  const keys: string[] = [];
  const asked = new Set<string>();
  for (let url: URL | undefined = reader.firstPage(whole); url !== undefined; ) {
    const target: HttpTarget = { path: prefix, url, label: url.origin + url.pathname };
    requireNewPage(session, target, asked);
    const answer = await readText(session, {
      target,
      accept: "application/json, application/xml;q=0.9",
      ...unlistedOf(reader),
      ...options,
    });
    if (answer === undefined && reader.absent === "folder") return { files: [], directories: [] };
    const page = pageOf(reader, answer, target);
    for (const key of page.keys) if (!hasDots.test(key)) keys.push(key);
    if (keys.length > mostKeys) throw cannotList(target, `the folder has more than ${mostKeys} entries`);
    url = nextUrl(page, url);
  }
  return listingOf(keys, whole);
}

// No path of a storage has such parts.
const hasDots = /(?:^|\/)\.{1,2}(?:\/|$)/;

function readerOf(api: HostApi): ApiReader {
  switch (api.kind) {
    case "s3":
      return s3Reader(api.bucket);
    case "gcs":
      return gcsReader(api.objects);
    case "hf":
      return huggingFaceReader(api.tree);
    default:
      return api satisfies never;
  }
}

const unlistedOf = ({ unlisted }: ApiReader) => (unlisted === undefined ? {} : { unlisted });

/** A host that names a page twice, or one of another place, would be asked without end, or handed what is not its own. */
function requireNewPage({ settings }: HttpSession, target: HttpTarget, asked: Set<string>): void {
  if (target.url.origin !== settings.base.url.origin) throw cannotList(target, "the host says that its list goes on at another host");
  if (asked.has(target.url.href)) throw cannotList(target, "the host's list does not go on after its first part");
  if (asked.size === mostPages) throw cannotList(target, `the host's list has more than ${mostPages} pages`);
  asked.add(target.url.href);
}

function pageOf(reader: ApiReader, answer: HostText | undefined, target: HttpTarget): ApiPage {
  if (answer === undefined) throw cannotList(target, "there is no such bucket, or it does not list");
  const page = reader.parse(answer);
  if (page === undefined) throw cannotList(target, "the host's answer is no list of files");
  return page;
}

const nextUrl = ({ next }: ApiPage, url: URL): URL | undefined => (next === undefined || next instanceof URL ? next : withQuery(url, next));
