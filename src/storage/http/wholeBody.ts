import { fileTooLong } from "../lengthError.js";
import type { Answer } from "./answer.js";
import { collect } from "./collect.js";
import { compareRange, parseContentRange } from "./contentRange.js";
import { interrupted, notTheFile, type PartlessReason, refused, TransportError, wholeTooLarge } from "./failures.js";
import type { Attempts } from "./retry.js";
import type { HttpSession } from "./session.js";
import { sniff } from "./sniff.js";
import type { HttpTarget } from "./target.js";

/** An answer with a whole file. */
export interface WholeBody {
  readonly target: HttpTarget;
  readonly answer: Answer;
  /** Most bytes to take. */
  readonly limit: number;
  /** Set where a part was asked for: the file is known to exist then, and its server gives no parts. */
  readonly reason: PartlessReason | undefined;
  readonly attempts: Attempts;
  readonly signal: AbortSignal | undefined;
}

/**
 * The file that an answer brings, or `undefined` where the answer is a page that stands for an absent file.
 * @throws TransportError where the body breaks off and cannot be resumed, StorageError where it is too large, changed or no file.
 */
export async function readWholeBody(session: HttpSession, body: WholeBody): Promise<Uint8Array | undefined> {
  const { target, answer, limit, reason, signal } = body;
  if (answer.status !== 200) throw refused(target, answer.status, "");
  const tooLarge = () => (reason === undefined ? fileTooLong(target.path, limit, target.label) : wholeTooLarge(target, reason, limit));
  if ((answer.length ?? 0) > limit) throw tooLarge();
  session.versions.check(target, answer);
  if (!answer.encoded && answer.headers.get("accept-ranges") === "bytes") session.settings.scouts.hearPromise();
  const bytes = await collect(resumedPieces(session, body), answer.length, limit, tooLarge);
  const impostor = sniff(bytes, answer.contentType, target.path);
  if (impostor === undefined) return bytes;
  if (reason === undefined && (await session.isPageForAbsent(answer, impostor, signal))) return undefined;
  throw notTheFile(target, impostor);
}

/** The body; where it breaks off, the rest of it by a range, if it is certain that the rest is of the same bytes. */
async function* resumedPieces(session: HttpSession, { target, answer, reason, attempts, signal }: WholeBody): AsyncGenerator<Uint8Array> {
  // The length of a body that was compressed in secret says nothing of the bytes that come.
  const total = reason === undefined && !answer.mayHideHeaders ? answer.length : undefined;
  let part = answer;
  for (let got = 0; ; ) {
    const before = got;
    let broken = new TransportError(`the body ended after ${got} bytes`);
    try {
      for await (const piece of part.pieces()) {
        got += piece.byteLength;
        yield piece;
      }
      if (total === undefined || got >= total) return;
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      broken = error;
    }
    if (total === undefined || got === 0 || got >= total) throw broken;
    await attempts.failed({ error: (tries) => interrupted(target, tries, broken), progress: got - before }, signal);
    const rest = await session.ask({ target, range: { offset: got, length: total - got }, priority: "high", attempts, signal });
    if (rest === undefined || !isRest(rest, got, total)) {
      rest?.close();
      throw broken;
    }
    session.versions.check(target, rest);
    part = rest;
  }
}

function isRest({ status, encoded, headers }: Answer, got: number, total: number): boolean {
  const header = headers.get("content-range");
  const exact = compareRange(header, { offset: got, length: total - got }) === "exact";
  return status === 206 && !encoded && exact && parseContentRange(header)?.size === total;
}
