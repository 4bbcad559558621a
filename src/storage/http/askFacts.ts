import type { FileFacts } from "../storage.js";
import { refused, TransportError, unreachable } from "./failures.js";
import type { HttpSession } from "./session.js";
import { isDocumentType } from "./sniff.js";
import type { HttpTarget } from "./target.js";
import { factsOf } from "./versions.js";

/**
 * What the server tells of a file by one HEAD request, which is not tried again; `undefined` where there is no such file, and nothing where
 * it answers that the question is not allowed, or with a page: that may be anything.
 * @throws StorageError `"network"` where there is no answer, `"status"` where the server is not able to give one now.
 */
export async function askFacts(
  { settings }: HttpSession,
  target: HttpTarget,
  signal: AbortSignal | undefined,
): Promise<FileFacts | undefined> {
  const { exchange, absentStatus } = settings;
  const answer = await exchange.ask(target.url, { method: "HEAD", accept: "*/*", priority: "high", signal }).catch((cause: unknown) => {
    throw cause instanceof TransportError ? unreachable(target, 1, cause.cause ?? cause) : cause;
  });
  answer.close();
  const { status, headers, contentType, mayHideHeaders } = answer;
  if (status === 404 || status === 410 || absentStatus.includes(status)) return undefined;
  if (status === 408 || status === 429 || status >= 500) throw refused(target, status, "");
  if (status !== 200 || isDocumentType(contentType)) return {};
  return { ...factsOf(headers), size: mayHideHeaders ? undefined : answer.length };
}
