import type { FileFacts } from "../storage.js";
import type { Answer } from "./answer.js";
import { refused, TransportError, unreachable } from "./failures.js";
import { isFolder } from "./request.js";
import type { HttpSession } from "./session.js";
import { isDocumentType } from "./sniff.js";
import type { HttpTarget } from "./target.js";
import { factsOf } from "./versions.js";

/**
 * What the server tells of a file by one HEAD request, which is not tried again; `undefined` where there is no such file, and nothing where
 * it answers that the question is not allowed, or with a page: that may be anything.
 * @throws StorageError `"network"` where there is no answer, `"status"` where the server is not able to give one now.
 */
export async function askFacts(session: HttpSession, target: HttpTarget, signal: AbortSignal | undefined): Promise<FileFacts | undefined> {
  const answer = await askHead(session, target, signal).catch((cause: unknown) => {
    throw cause instanceof TransportError ? unreachable(target, 1, cause.cause ?? cause) : cause;
  });
  const { status, headers, contentType, mayHideHeaders } = answer;
  if (isAbsent(session, target, answer)) return undefined;
  if (status === 408 || status === 429 || status >= 500) throw refused(target, status, "");
  if (status !== 200 || isDocumentType(contentType)) return {};
  return { ...factsOf(headers), size: mayHideHeaders ? undefined : answer.length };
}

/** Bytes that a file has, by its headers alone; `undefined` where there is no such file, or where they do not tell. Throws as a read. */
export async function askLength(session: HttpSession, target: HttpTarget, signal: AbortSignal | undefined): Promise<number | undefined> {
  try {
    const head = await askHead(session, target, signal);
    if (isAbsent(session, target, head)) return undefined;
    // A length that was compressed in secret is too short; what is read by it then says so.
    if (head.status === 200) return head.length;
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
  }
  // Some hosts let nobody ask so, and this way there are further tries.
  const answer = await session.ask({ target, priority: "high", attempts: session.attempts(), signal });
  answer?.close();
  return answer?.status === 200 ? answer.length : undefined;
}

async function askHead({ settings }: HttpSession, { url }: HttpTarget, signal: AbortSignal | undefined): Promise<Answer> {
  const answer = await settings.exchange.ask(url, { method: "HEAD", accept: "*/*", priority: "high", signal });
  answer.close();
  return answer;
}

const isAbsent = ({ settings }: HttpSession, target: HttpTarget, answer: Answer): boolean =>
  answer.status === 404 || answer.status === 410 || settings.absentStatus.includes(answer.status) || isFolder(answer, target);
