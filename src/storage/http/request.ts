import type { ByteRange } from "../../bytes/ranges.js";
import type { BodyKeeper } from "../keptStream.js";
import type { Answer } from "./answer.js";
import type { Exchange } from "./exchange.js";
import { HiddenRedirectError, hiddenRedirect, refused, TransportError, unreachable } from "./failures.js";
import { mayPass, refusalLength } from "./refusal.js";
import { type Attempts, type Clock, parseRetryAfter } from "./retry.js";
import type { HttpTarget } from "./target.js";

/** A request that is tried again where the failure may pass. */
export interface HttpRequest {
  readonly target: HttpTarget;
  readonly range?: ByteRange | undefined;
  readonly accept: string;
  readonly priority: RequestPriority;
  /** Keeps the body where it can. */
  readonly keeper?: BodyKeeper | undefined;
  readonly attempts: Attempts;
  /** Hears the beginning of an answer that brings no file. */
  readonly onRefusal?: ((body: string) => void) | undefined;
  readonly signal: AbortSignal | undefined;
}

/** What requests share. */
export interface RequestSettings {
  readonly exchange: Exchange;
  readonly clock: Clock;
  /** Statuses besides 404 and 410 that mean that there is no such file. */
  readonly absentStatus: readonly number[];
}

/**
 * An answer with status 200, 206 or 416, or `undefined` where there is no such file (a folder is none).
 * @throws StorageError `"network"` or `"status"` after all tries.
 */
export async function request(settings: RequestSettings, asked: HttpRequest): Promise<Answer | undefined> {
  const { target, attempts, signal } = asked;
  for (;;) {
    const answer = await answerOf(settings, asked);
    if (answer === undefined) continue;
    const { status } = answer;
    const absent = status === 404 || status === 410 || settings.absentStatus.includes(status) || isFolder(answer, target);
    if (!absent && [200, 206, 416].includes(status)) return answer;
    const retryAfter = parseRetryAfter(answer.headers.get("retry-after"), settings.clock.now());
    const body = await answer.text(refusalLength);
    asked.onRefusal?.(body);
    if (absent) return undefined;
    if (!mayPass(status)) throw refused(target, status, body);
    await attempts.failed({ error: (tries) => refused(target, status, body, tries), retryAfter }, signal);
  }
}

/** `undefined` where the connection failed and another try is due. */
async function answerOf({ exchange }: RequestSettings, asked: HttpRequest): Promise<Answer | undefined> {
  const { target, attempts, signal } = asked;
  try {
    return await exchange.ask(target.url, asked);
  } catch (error) {
    if (error instanceof HiddenRedirectError) throw hiddenRedirect(target, error.headers);
    if (!(error instanceof TransportError)) throw error;
    await attempts.failed({ error: (tries) => unreachable(target, tries, error.cause ?? error) }, signal);
    return undefined;
  }
}

/** Servers send /folder to /folder/, where an index page or a refusal waits. Some hosts put a slash behind files as well: those are no pages. */
export const isFolder = ({ url, contentType }: Answer, target: HttpTarget) =>
  !target.url.pathname.endsWith("/") && url.pathname === `${target.url.pathname}/` && !/octet-stream/i.test(contentType ?? "");
