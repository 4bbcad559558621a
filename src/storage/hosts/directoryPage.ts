import { cannotList } from "../http/failures.js";
import type { HttpSession } from "../http/session.js";
import { targetOf } from "../http/target.js";
import type { StorageListing } from "../storage.js";
import { parseDirectoryIndex } from "./directoryIndex.js";
import { readText } from "./readText.js";

/** Caddy gives JSON to those who ask for it, and no page that could be told from another; the others do not look. */
const acceptIndexes = "application/json, text/html;q=0.9";

/**
 * Entries of a folder, out of the page that the server prints for it. Where there is none, the pages of the folder above and of the place tell
 * whether the folder is absent, or the server lists nothing.
 * @param onOther hears the beginning of what else it answers.
 * @throws StorageError `"cannot-list"` where it prints none, else as a read.
 */
export async function listByPage(
  session: HttpSession,
  prefix: string,
  signal: AbortSignal | undefined,
  onOther?: (text: string) => void,
): Promise<StorageListing> {
  const page = await pageOf(session, prefix, signal, onOther);
  if (page !== undefined) return page;
  for (const above of foldersAbove(prefix)) {
    const listing = await pageOf(session, above, signal, onOther);
    if (listing === undefined) continue;
    if (listing.directories.includes(partAfter(above, prefix))) break;
    return { files: [], directories: [] };
  }
  throw noPage(session, prefix);
}

/** The same of a server that has shown that it lists nothing: it is asked for this page alone, in case that has changed. */
export async function listByThisPage(session: HttpSession, prefix: string, signal: AbortSignal | undefined): Promise<StorageListing> {
  const page = await pageOf(session, prefix, signal);
  if (page === undefined) throw noPage(session, prefix);
  return page;
}

const noPage = ({ settings }: HttpSession, prefix: string) =>
  cannotList(targetOf(settings.base, prefix), "the server has no page for this folder");

/** The one directly above, and the topmost one. */
function foldersAbove(prefix: string): ReadonlySet<string> {
  return new Set(prefix === "" ? [] : [prefix.slice(0, prefix.lastIndexOf("/", prefix.length - 2) + 1), ""]);
}

/** The entry of a folder that a path below it goes through. */
const partAfter = (folder: string, path: string): string => path.slice(folder.length).split("/")[0] ?? "";

/** Undefined where the server has nothing at the folder's address. */
async function pageOf(
  session: HttpSession,
  prefix: string,
  signal: AbortSignal | undefined,
  onOther?: (text: string) => void,
): Promise<StorageListing | undefined> {
  const target = targetOf(session.settings.base, prefix);
  const page = await readText(session, { target, accept: acceptIndexes, onRefusal: onOther, signal });
  const listing = page && parseDirectoryIndex(page.text, page.headers.get("content-type"), page.url);
  if (page === undefined || listing !== undefined) return listing;
  onOther?.(page.text.slice(0, 1000));
  throw cannotList(target, "the server's answer for this folder is no list of files");
}
