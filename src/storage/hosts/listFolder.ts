import { isCheckpointError, type StorageError } from "../../errors.js";
import { cannotList } from "../http/failures.js";
import type { HttpSession, SessionSettings } from "../http/session.js";
import { targetOf } from "../http/target.js";
import type { StorageListing } from "../storage.js";
import type { HostApi } from "./api.js";
import { listByPage } from "./directoryPage.js";
import { bucketApi } from "./knownUrls.js";
import { listByApi } from "./listByApi.js";
import { listByIndexFile } from "./listByIndexFile.js";

/** One way to list; undefined or StorageError `"cannot-list"` where the host does not know it. */
type Road = (session: HttpSession, prefix: string, signal: AbortSignal | undefined) => Promise<StorageListing | undefined>;

/** What is tried, and what is asked from then on where that answered. */
interface Candidate {
  readonly trial: Road;
  readonly road: Road;
}

/** What answered first, for a storage and its snapshots. */
const chosenRoads = new WeakMap<SessionSettings, Road>();

/**
 * Entries of a folder of a web host: by its API where its address tells that it has one, else by the file that `writeIndex` wrote, by the page
 * that the server prints, or by S3's API where the server's errors look like S3's. What answered first is asked alone from then on.
 * @throws StorageError `"cannot-list"` where none answers, else as a read.
 */
export async function listFolder(session: HttpSession, prefix: string, signal: AbortSignal | undefined): Promise<StorageListing> {
  signal?.throwIfAborted();
  const { settings } = session;
  return (await chosenRoads.get(settings)?.(session, prefix, signal)) ?? listByFirst(candidatesOf(settings), session, prefix, signal);
}

async function listByFirst(
  candidates: readonly Candidate[],
  session: HttpSession,
  prefix: string,
  signal: AbortSignal | undefined,
): Promise<StorageListing> {
  let refusal: { readonly road: Road; readonly error: StorageError } | undefined;
  for (const { trial, road } of candidates) {
    try {
      const listing = await trial(session, prefix, signal);
      if (listing === undefined) continue;
      chosenRoads.set(session.settings, road);
      return listing;
    } catch (error) {
      if (!isCheckpointError(error, "Storage") || error.reason !== "cannot-list") throw error;
      refusal ??= { road, error };
    }
  }
  if (refusal === undefined) throw cannotList(targetOf(session.settings.base, prefix), "the host lists nothing");
  // Asked again it refuses again, without a search.
  chosenRoads.set(session.settings, refusal.road);
  throw refusal.error;
}

function candidatesOf({ api, base }: SessionSettings): Candidate[] {
  const index = certain(listByIndexFile);
  if (api !== undefined) return [certain(byApi(api)), index];
  let isObjectStore = false;
  const hear = (text: string) => {
    isObjectStore ||= /<(?:Error|ListBucketResult)[\s>]/.test(text);
  };
  const page: Candidate = { trial: (session, prefix, signal) => listByPage(session, prefix, signal, hear), road: listByPage };
  const guesses = [bucketApi(base.url, true), bucketApi(base.url, false)].filter((guess) => guess !== undefined);
  return [index, page, ...guesses.map((guess) => ({ trial: onlyIf(() => isObjectStore, ifItAnswers(guess)), road: byApi(guess) }))];
}

/** A road that nobody takes who has no reason to. */
const onlyIf =
  (isLikely: () => boolean, road: Road): Road =>
  async (session, prefix, signal) =>
    isLikely() ? road(session, prefix, signal) : undefined;

const certain = (road: Road): Candidate => ({ trial: road, road });

const byApi =
  (api: HostApi): Road =>
  (session, prefix, signal) =>
    listByApi(session, api, prefix, { signal });

/** For an API that the host may not have: whatever it answers instead is no failure. */
const ifItAnswers =
  (api: HostApi): Road =>
  async (session, prefix, signal) => {
    try {
      return await listByApi(session, api, prefix, { retries: 0, signal });
    } catch (error) {
      if (isCheckpointError(error, "Storage")) return undefined;
      throw error;
    }
  };
