import type { ByteRange } from "../../bytes/ranges.js";
import { SharedTask } from "../../tasks/shared.js";
import { sliceOf } from "../lengthError.js";
import type { Answer } from "./answer.js";
import { interrupted, type PartlessReason, TransportError } from "./failures.js";
import type { HttpSession } from "./session.js";
import type { HttpTarget } from "./target.js";
import { readWholeBody } from "./wholeBody.js";
import { WholeFiles } from "./wholeFiles.js";

/** A range out of a file that must be taken whole. */
export interface WholeQuestion {
  readonly target: HttpTarget;
  readonly range: ByteRange;
  readonly reason: PartlessReason;
  /** An answer that has the whole file, where there is one already. */
  readonly answer?: Answer | undefined;
  /** Instead of the usual number. */
  readonly retries?: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Reads whole files, and keeps those that servers do not give in parts. */
export class Wholes {
  readonly #session: HttpSession;
  readonly #kept: WholeFiles;
  readonly #partless = new Map<string, PartlessReason>();
  readonly #underWay = new Map<string, { readonly reason: PartlessReason; readonly task: SharedTask<Uint8Array | undefined> }>();

  constructor(session: HttpSession) {
    this.#session = session;
    this.#kept = new WholeFiles(session.settings.wholeFileBytes);
  }

  /** Why a file is known to be had whole only, or is just being taken. */
  partless(path: string): PartlessReason | undefined {
    const underWay = this.#underWay.get(path);
    return this.#partless.get(path) ?? (underWay?.task.abandoned === false ? underWay.reason : undefined);
  }

  /** A whole file of at most `longest` bytes, or `undefined` where there is none. @throws StorageError `"length"` for a longer one. */
  async read(target: HttpTarget, longest: number | undefined, signal: AbortSignal | undefined): Promise<Uint8Array | undefined> {
    return this.#kept.get(target.path) ?? this.#take(target, longest ?? Number.POSITIVE_INFINITY, signal);
  }

  /**
   * A range of a file that is taken whole, once for all who want parts of it; remembered for later ranges.
   * @throws StorageError `"no-ranges"` or `"encoding"` where the file is larger than may be kept, `"length"` past its end.
   */
  async slice({ target, range, signal, ...part }: WholeQuestion): Promise<Uint8Array | undefined> {
    const { reason } = part;
    const bytes = this.#kept.get(target.path) ?? (await this.#shared(target, part).join({ signal }));
    if (bytes !== undefined) this.#partless.set(target.path, reason);
    return bytes === undefined ? undefined : sliceOf(target.path, bytes, range, target.label);
  }

  #shared(target: HttpTarget, part: WholeOfParts): SharedTask<Uint8Array | undefined> {
    const underWay = this.#underWay.get(target.path)?.task;
    if (underWay?.abandoned === false) {
      part.answer?.close();
      return underWay;
    }
    const task = new SharedTask(async (signal) => {
      try {
        const bytes = await this.#take(target, this.#session.settings.wholeFileBytes, signal, part);
        if (bytes !== undefined) this.#kept.keep(target.path, bytes);
        return bytes;
      } finally {
        if (this.#underWay.get(target.path)?.task === task) this.#underWay.delete(target.path);
      }
    });
    this.#underWay.set(target.path, { reason: part.reason, task });
    return task;
  }

  /** Tries again from the beginning where the body breaks off and cannot be resumed. */
  async #take(target: HttpTarget, limit: number, signal: AbortSignal | undefined, part?: WholeOfParts): Promise<Uint8Array | undefined> {
    const attempts = this.#session.attempts(part?.retries);
    let answer = part?.answer;
    answer?.follow(signal);
    for (;;) {
      answer ??= await this.#session.ask({ target, priority: "high", attempts, signal });
      if (answer === undefined) return undefined;
      try {
        return await readWholeBody(this.#session, { target, answer, limit, reason: part?.reason, attempts, signal });
      } catch (cause) {
        if (!(cause instanceof TransportError)) throw cause;
        await attempts.failed({ error: (tries) => interrupted(target, tries, cause) }, signal);
      } finally {
        answer.close();
      }
      answer = undefined;
    }
  }
}

type WholeOfParts = Pick<WholeQuestion, "reason" | "answer" | "retries">;
