import { isCheckpointError } from "../../errors.js";
import type { Answer } from "../http/answer.js";
import { collect } from "../http/collect.js";
import { cannotList, interrupted, TransportError } from "../http/failures.js";
import { request } from "../http/request.js";
import type { Attempts } from "../http/retry.js";
import type { HttpSession } from "../http/session.js";
import type { HttpTarget } from "../http/target.js";

/** Longest document that is read to list a folder unless told, in bytes: some 50,000 entries of a directory page. */
const longestText = 8 * 1024 * 1024;

/** A document that tells what is in a folder. */
export interface HostText {
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly headers: Headers;
  /** After redirects. */
  readonly url: URL;
}

/** What is asked for. */
export interface TextQuestion {
  readonly target: HttpTarget;
  readonly accept: string;
  /** Statuses that mean that the host does not list; others are errors of their own. */
  readonly unlisted?: readonly number[];
  readonly retries?: number | undefined;
  /** Most bytes. */
  readonly longest?: number | undefined;
  /** Hears the beginning of an answer that is no such document. */
  readonly onRefusal?: ((body: string) => void) | undefined;
  readonly signal: AbortSignal | undefined;
}

// Forbidden, not allowed, not implemented: what servers and object stores answer that list nothing.
const unlistedStatuses: readonly number[] = [403, 405, 501];

/**
 * A whole document, tried again where that may help; `undefined` where there is none.
 * @throws StorageError `"cannot-list"` where the host refuses, or sends more than a list can be; else as a read.
 */
export async function readText(session: HttpSession, asked: TextQuestion): Promise<HostText | undefined> {
  const attempts = session.attempts(asked.retries);
  const { longest = longestText } = asked;
  for (;;) {
    const answer = await ask(session, asked, attempts);
    if (answer === undefined) return undefined;
    try {
      const tooLong = () => cannotList(asked.target, `the server's list of this folder is longer than ${longest} bytes`);
      const bytes = await collect(answer.pieces(), answer.length, longest, tooLong);
      return hostText(bytes, answer);
    } catch (cause) {
      if (!(cause instanceof TransportError)) throw cause;
      await attempts.failed({ error: (tries) => interrupted(asked.target, tries, cause) }, asked.signal);
    } finally {
      answer.close();
    }
  }
}

const hostText = (bytes: Uint8Array, { headers, url }: Answer): HostText => ({
  bytes,
  get text() {
    return new TextDecoder().decode(bytes);
  },
  headers,
  url,
});

async function ask({ settings }: HttpSession, { unlisted = [], ...asked }: TextQuestion, attempts: Attempts) {
  const { target } = asked;
  try {
    return await request(settings, { ...asked, priority: "high", attempts });
  } catch (error) {
    if (!isCheckpointError(error, "Storage") || ![...unlistedStatuses, ...unlisted].includes(error.status ?? 0)) throw error;
    throw cannotList(target, `the server answered ${error.status} to the request for the folder's list`, error.status);
  }
}
