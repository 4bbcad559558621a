import { isCheckpointError, type StorageError } from "../../errors.js";
import { cannotList } from "../http/failures.js";
import type { HttpSession, SessionSettings } from "../http/session.js";
import { targetOf } from "../http/target.js";
import type { StorageListing } from "../storage.js";
import type { HostApi } from "./api.js";
import { listByPage, listByThisPage } from "./directoryPage.js";
import { bucketApi } from "./knownUrls.js";
import { listByApi } from "./listByApi.js";
import { listByIndexFile } from "./listByIndexFile.js";

/** One way to list; undefined or StorageError `"cannot-list"` where the host does not know it. */
type Road = (session: HttpSession, prefix: string, signal: AbortSignal | undefined) => Promise<StorageListing | undefined>;

/** What is tried, and what is asked from then on where that answered, or refused. */
interface Candidate {
  readonly trial: Road;
  readonly road: Road;
  readonly afterRefusal: Road;
}

/** What answered first, for a storage and its snapshots. */
const chosenRoads = new WeakMap<SessionSettings, Road>();

/**
 * Entries of a folder of a web host: by its API where its address tells that it has one, else by the file that `writeIndex` wrote, by the page
 * that the server prints, or by S3's API where the server's errors look like S3's. What answered first is asked alone from then on, and so is
 * what refused first where all do.
 * @throws StorageError `"cannot-list"` where none answers, else as a read.
 */
export async function listFolder(session: HttpSession, prefix: string, signal: AbortSignal | undefined): Promise<StorageListing> {
  signal?.throwIfAborted();
  const { settings } = session;
  return (await chosenRoads.get(settings)?.(session, prefix, signal)) ?? listByFirst(session, prefix, signal);
}

async function listByFirst(session: HttpSession, prefix: string, signal: AbortSignal | undefined): Promise<StorageListing> {
  let refusal: { readonly road: Road; readonly error: StorageError } | undefined;
  for (const round of roundsOf(session.settings)) {
    const { listing, road, refused } = await tryTogether(round, session, prefix, signal);
    if (listing !== undefined) {
      chosenRoads.set(session.settings, road);
      return listing;
    }
    refusal ??= refused;
  }
  if (refusal === undefined) throw cannotList(targetOf(session.settings.base, prefix), "the host lists nothing");
  chosenRoads.set(session.settings, refusal.road);
  throw refusal.error;
}

/** What a round of candidates brought. */
type Outcome =
  | { readonly listing: StorageListing; readonly road: Road; readonly refused?: undefined }
  | {
      readonly listing?: undefined;
      readonly road?: undefined;
      readonly refused: { readonly road: Road; readonly error: StorageError } | undefined;
    };

/** Asks all at once; the first in their order that answers counts, and the rest is given up then. */
async function tryTogether(
  round: readonly Candidate[],
  session: HttpSession,
  prefix: string,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const enough = new AbortController();
  const both = signal === undefined ? enough.signal : AbortSignal.any([signal, enough.signal]);
  const trials = round.map(({ trial, ...candidate }) => ({ ...candidate, answer: trial(session, prefix, both) }));
  for (const { answer } of trials) answer.catch(() => undefined);
  let refused: Outcome["refused"];
  try {
    for (const { answer, road, afterRefusal } of trials) {
      try {
        const listing = await answer;
        if (listing !== undefined) return { listing, road };
      } catch (error) {
        if (!isCheckpointError(error, "Storage") || error.reason !== "cannot-list") throw error;
        refused ??= { road: afterRefusal, error };
      }
    }
    return { refused };
  } finally {
    enough.abort();
  }
}

/** Candidates that are asked at once, round after round. */
function roundsOf({ api, base }: SessionSettings): (readonly Candidate[])[] {
  const index = certain(listByIndexFile);
  if (api !== undefined) return [[certain(byApi(api))], [index]];
  let isObjectStore = false;
  const hear = (text: string) => {
    isObjectStore ||= /<(?:Error|ListBucketResult)[\s>]/.test(text);
  };
  const page: Candidate = {
    trial: (session, prefix, signal) => listByPage(session, prefix, signal, hear),
    road: listByPage,
    afterRefusal: listByThisPage,
  };
  const guesses = [bucketApi(base.url, true), bucketApi(base.url, false)].filter((guess) => guess !== undefined);
  return [[index, page], guesses.map((guess) => ({ ...certain(byApi(guess)), trial: onlyIf(() => isObjectStore, ifItAnswers(guess)) }))];
}

/** A road that nobody takes who has no reason to. */
const onlyIf =
  (isLikely: () => boolean, road: Road): Road =>
  async (session, prefix, signal) =>
    isLikely() ? road(session, prefix, signal) : undefined;

const certain = (road: Road): Candidate => ({ trial: road, road, afterRefusal: road });

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
