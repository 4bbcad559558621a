import type { ByteRange } from "../../bytes/ranges.js";
import { isCheckpointError, type StorageError } from "../../errors.js";
import type { BodyKeeper } from "../keptStream.js";
import { lengthError } from "../lengthError.js";
import type { Answer } from "./answer.js";
import { collect } from "./collect.js";
import { compareRange, parseContentRange, parseUnsatisfiedSize } from "./contentRange.js";
import { changed, interrupted, notTheFile, type PartlessReason, TransportError, wrongLength } from "./failures.js";
import type { Attempts } from "./retry.js";
import type { ScoutReport } from "./scouts.js";
import type { HttpSession } from "./session.js";
import { isDocumentType, sniff } from "./sniff.js";
import type { HttpTarget } from "./target.js";
import type { Wholes } from "./wholes.js";

/** What is asked of a file. */
export interface PartQuestion {
  readonly target: HttpTarget;
  /** At least one byte long. */
  readonly range: ByteRange;
  /** `"low"` for long streams, so that the small parts that others wait for come first. */
  readonly priority: RequestPriority;
  /** Keeps the bytes where it can: then pieces are stand-ins. */
  readonly keeper?: BodyKeeper | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Bytes of a file taken whole, or a part on its way: read it to its end or leave it. */
export type OpenedPart =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "pieces"; readonly pieces: AsyncIterable<Uint8Array>; readonly state: PartState };

/** How the reading of a part went. */
interface PartState {
  /** Every try brought a body that broke off, or was too short or too long. */
  badBody: boolean;
  /** The server may have compressed the body without our seeing it; then the browser fails as it unpacks it. */
  readonly mayBeEncoded: boolean;
}

/** Reads ranges of files. */
export class Parts {
  readonly #session: HttpSession;
  readonly #wholes: Wholes;
  /** Files that come with a page's media type, and are no pages. */
  readonly #documents = new Set<string>();

  constructor(session: HttpSession, wholes: Wholes) {
    this.#session = session;
    this.#wholes = wholes;
  }

  /** The bytes of a range, or `undefined` where there is no such file. */
  async read(question: PartQuestion): Promise<Uint8Array | undefined> {
    const part = await this.open(question);
    if (part?.kind !== "pieces") return part?.bytes;
    try {
      const { length } = question.range;
      return await collect(part.pieces, length, length, () => wrongLength(question.target, question.range, "more"));
    } catch (error) {
      if (!part.state.badBody || !part.state.mayBeEncoded) throw error;
      return this.#wholeOrThrow(question, error);
    }
  }

  /** The bytes of a range as they come, or `undefined` where there is no such file. */
  async stream(question: PartQuestion): Promise<AsyncIterable<Uint8Array> | undefined> {
    const part = await this.open(question);
    if (part === undefined) return undefined;
    return part.kind === "bytes" ? once(part.bytes) : this.#orWhole(question, part);
  }

  /** The pieces of a part; where it brings none, the range out of the whole file. Bytes that were passed on cannot be taken back. */
  async *#orWhole(question: PartQuestion, { pieces, state }: OpenedPart & { kind: "pieces" }): AsyncGenerator<Uint8Array> {
    let isEmpty = true;
    try {
      for await (const piece of pieces) {
        isEmpty = false;
        yield piece;
      }
    } catch (error) {
      if (!isEmpty || !state.badBody || !state.mayBeEncoded) throw error;
      yield this.#wholeOrThrow(question, error);
    }
  }

  /** A range on its way, or `undefined` where there is no such file. */
  async open(question: PartQuestion): Promise<OpenedPart | undefined> {
    const { target, signal } = question;
    for (;;) {
      const partless = this.#wholes.partless(target.path);
      if (partless !== undefined) return this.#whole(question, partless);
      const report = await this.#session.settings.scouts.enter(target.path, { signal });
      if (report !== undefined) return this.#openFirst(question, report);
    }
  }

  async #openFirst(question: PartQuestion, report: ScoutReport): Promise<OpenedPart | undefined> {
    const attempts = this.#session.attempts();
    let gavePart: boolean | undefined;
    try {
      const answer = await this.#ask(question, attempts).catch((error: unknown) => this.#afterNoAnswer(question, error));
      if (answer === undefined || "bytes" in answer) return answer;
      const problem = partProblem(question, answer);
      gavePart = problem === undefined;
      // Begun before the report, so that those who wait join it.
      if (problem !== undefined) return this.#wholeInstead(question, problem, answer);
      this.#session.versions.check(question.target, answer);
      const mayBeEncoded = answer.mayHideHeaders || !answer.headers.has("content-range");
      const state: PartState = { badBody: false, mayBeEncoded };
      return { kind: "pieces", pieces: this.#pieces(question, answer, attempts, state), state };
    } finally {
      report(gavePart);
    }
  }

  /** The body of a part; where it breaks off, the rest of it by a further request. */
  async *#pieces(question: PartQuestion, first: Answer, attempts: Attempts, state: PartState): AsyncGenerator<Uint8Array> {
    const { range, ...rest } = question;
    const { target, signal } = rest;
    let answer = first;
    for (let got = 0; ; ) {
      const before = got;
      let broken: TransportError | undefined;
      try {
        for await (const piece of answer.pieces()) {
          if (got === 0 && range.offset === 0) refuseImpostor(target, piece, answer.contentType);
          state.badBody = got + piece.byteLength > range.length;
          if (state.badBody) throw wrongLength(target, range, "more");
          got += piece.byteLength;
          yield piece;
        }
      } catch (error) {
        if (!(error instanceof TransportError)) throw error;
        broken = error;
      }
      if (got === range.length) return;
      state.badBody = true;
      const error = (tries: number) => (broken ? interrupted(target, tries, broken) : wrongLength(target, range, `only ${got} of them`));
      await attempts.failed({ error, progress: got - before }, signal);
      state.badBody = false;
      const next = await this.#continue({ ...rest, range: { offset: range.offset + got, length: range.length - got } }, attempts);
      if (next instanceof Uint8Array) return yield next;
      answer = next;
    }
  }

  /** The rest of a part, as a further part or out of the whole file. */
  async #continue(rest: PartQuestion, attempts: Attempts): Promise<Answer | Uint8Array> {
    const answer = await this.#ask(rest, attempts);
    if (answer === undefined) throw changed(rest.target, "it is gone now");
    const problem = partProblem(rest, answer);
    if (problem === undefined) {
      this.#session.versions.check(rest.target, answer);
      return answer;
    }
    const whole = await this.#wholeInstead(rest, problem, answer);
    if (whole === undefined) throw changed(rest.target, "it is gone now");
    return whole.bytes;
  }

  /** An answer whose beginning was looked at where its media type is that of a page. */
  async #ask({ target, range, priority, keeper, signal }: PartQuestion, attempts: Attempts): Promise<Answer | undefined> {
    for (;;) {
      const answer = await this.#session.ask({ target, range, priority, keeper, attempts, signal });
      if (answer?.status !== 206 || !isDocumentType(answer.contentType) || this.#documents.has(target.path)) return answer;
      // Before the next request: with this one open there may be none left.
      answer.close();
      await this.#session.refuseImpostor(target, signal);
      this.#documents.add(target.path);
    }
  }

  async #wholeInstead(question: PartQuestion, { reason, tooShort }: PartProblem, answer: Answer) {
    const usable = answer.status === 200;
    if (!usable) answer.close();
    try {
      return await this.#whole(question, reason, usable ? answer : undefined);
    } catch (error) {
      if (tooShort !== undefined && isCheckpointError(error, "Storage") && error.reason === reason) throw tooShort;
      throw error;
    }
  }

  async #whole({ target, range, signal }: PartQuestion, reason: PartlessReason, answer?: Answer) {
    const bytes = await this.#wholes.slice({ target, range, reason, answer, signal });
    return bytes === undefined ? undefined : ({ kind: "bytes", bytes } as const);
  }

  /** A browser that cannot unpack what a server compressed fails as if there were no answer; one request for the whole file tells. */
  async #afterNoAnswer(question: PartQuestion, error: unknown) {
    if (!isCheckpointError(error, "Storage") || error.reason !== "network") throw error;
    return { kind: "bytes", bytes: await this.#wholeOrThrow(question, error, 0) } as const;
  }

  /** A last try by the whole file; the error is the one before, should it fail too. */
  async #wholeOrThrow({ target, range, signal }: PartQuestion, error: unknown, retries?: number): Promise<Uint8Array> {
    const bytes = await this.#wholes.slice({ target, range, reason: "encoding", retries, signal }).catch(() => undefined);
    signal?.throwIfAborted();
    if (bytes === undefined) throw error;
    return bytes;
  }
}

/** Why an answer is not the part that was asked for. */
interface PartProblem {
  readonly reason: PartlessReason;
  /** By the server's word the file ends before the range; thrown where the whole file cannot tell otherwise. */
  readonly tooShort?: StorageError;
}

function partProblem({ target, range }: PartQuestion, { status, encoded, headers }: Answer): PartProblem | undefined {
  if (status === 200) return { reason: "no-ranges" };
  if (encoded) return { reason: "encoding" };
  const sent = headers.get("content-range");
  const comparison = status === 416 ? "clipped" : compareRange(sent, range);
  if (comparison === "other") return { reason: "no-ranges" };
  if (comparison !== "clipped") return undefined;
  // A compressed file may be too short although the file is not, and a pointer or a page is not the file.
  const size = status === 416 ? parseUnsatisfiedSize(sent) : parseContentRange(sent)?.size;
  const tooShort = size === undefined ? wrongLength(target, range, "none of them") : lengthError(target.path, range, size, target.label);
  return { reason: "encoding", tooShort };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function refuseImpostor(target: HttpTarget, head: Uint8Array, contentType: string | null): void {
  const impostor = sniff(head, contentType, target.path);
  if (impostor !== undefined) throw notTheFile(target, impostor);
}
