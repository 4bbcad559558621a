import { cannotList } from "../http/failures.js";
import type { HttpSession } from "../http/session.js";
import { targetOf } from "../http/target.js";
import type { StorageListing } from "../storage.js";
import { parseDirectoryIndex } from "./directoryIndex.js";
import { readText } from "./readText.js";

/** Caddy gives JSON to those who ask for it, and no page that could be told from another; the others do not look. */
const acceptIndexes = "application/json, text/html;q=0.9";

/**
 * Entries of a folder, out of the page that the server prints for it.
 * @param onOther hears the beginning of what else it answers.
 * @throws StorageError `"cannot-list"` where it prints none, else as a read.
 */
export async function listByPage(
  session: HttpSession,
  prefix: string,
  signal: AbortSignal | undefined,
  onOther?: (text: string) => void,
): Promise<StorageListing> {
  const target = targetOf(session.settings.base, prefix);
  const page = await readText(session, { target, accept: acceptIndexes, onRefusal: onOther, signal });
  if (page !== undefined) {
    const listing = parseDirectoryIndex(page.text, page.headers.get("content-type"), page.url);
    if (listing === undefined) onOther?.(page.text.slice(0, 1000));
    if (listing === undefined) throw cannotList(target, "the server's answer for this folder is no list of files");
    return listing;
  }
  if (prefix === "") throw cannotList(target, "the server has no page for this folder");
  // Either the server lists folders and this one is absent, or it lists none; the folder above tells.
  const parent = prefix.slice(0, prefix.lastIndexOf("/", prefix.length - 2) + 1);
  const { directories } = await listByPage(session, parent, signal, onOther);
  if (directories.includes(prefix.slice(parent.length, -1))) throw cannotList(target, "the server has no page for this folder");
  return { files: [], directories: [] };
}
