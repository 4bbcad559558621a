import { isCheckpointError } from "../../errors.js";
import type { StorageListing } from "../storage.js";
import type { Answer } from "./answer.js";
import { collect } from "./collect.js";
import { longestIndex, parseDirectoryIndex } from "./directoryIndex.js";
import { cannotList, interrupted, TransportError } from "./failures.js";
import { request } from "./request.js";
import type { Attempts } from "./retry.js";
import type { HttpSession } from "./session.js";
import { type HttpTarget, targetOf } from "./target.js";

/** Caddy gives JSON to those who ask for it, and no page that could be told from another; the others do not look. */
const acceptIndexes = "application/json, text/html;q=0.9";

/**
 * Entries of a folder, out of the page that the server prints for it.
 * @throws StorageError `"cannot-list"` where it prints none, else as a read.
 */
export async function listDirectory(session: HttpSession, prefix: string, signal: AbortSignal | undefined): Promise<StorageListing> {
  const target = targetOf(session.settings.base, prefix);
  const listing = await readIndex(session, target, signal);
  if (listing !== undefined) return listing;
  if (prefix === "") throw cannotList(target, "the server has no page for this folder");
  // Either the server lists folders and this one is absent, or it lists none; the folder above tells.
  const parent = prefix.slice(0, prefix.lastIndexOf("/", prefix.length - 2) + 1);
  const { directories } = await listDirectory(session, parent, signal);
  if (directories.includes(prefix.slice(parent.length, -1))) throw cannotList(target, "the server has no page for this folder");
  return { files: [], directories: [] };
}

/** `undefined` where there is no such folder. */
async function readIndex(session: HttpSession, target: HttpTarget, signal: AbortSignal | undefined): Promise<StorageListing | undefined> {
  const attempts = session.attempts();
  for (;;) {
    const answer = await askIndex(session, target, attempts, signal);
    if (answer === undefined) return undefined;
    try {
      return await parseAnswer(target, answer);
    } catch (cause) {
      if (!(cause instanceof TransportError)) throw cause;
      await attempts.failed({ error: (tries) => interrupted(target, tries, cause) }, signal);
    } finally {
      answer.close();
    }
  }
}

// Not allowed, no such method, not implemented: what servers and object stores answer that list nothing.
const unlistedStatuses = new Set([403, 405, 501]);

async function askIndex({ settings }: HttpSession, target: HttpTarget, attempts: Attempts, signal: AbortSignal | undefined) {
  try {
    return await request(settings, { target, accept: acceptIndexes, priority: "high", attempts, signal });
  } catch (error) {
    if (!isCheckpointError(error, "Storage") || !unlistedStatuses.has(error.status ?? 0)) throw error;
    throw cannotList(target, `the server answered ${error.status} to the folder's address`, error.status);
  }
}

async function parseAnswer(target: HttpTarget, answer: Answer): Promise<StorageListing> {
  const tooLong = () => cannotList(target, `the server's page for this folder is longer than ${longestIndex} bytes`);
  const bytes = await collect(answer.pieces(), answer.length, longestIndex, tooLong);
  const listing = parseDirectoryIndex(new TextDecoder().decode(bytes), answer.contentType, answer.url);
  if (listing === undefined) throw cannotList(target, "the server's answer for this folder is no list of files");
  return listing;
}
