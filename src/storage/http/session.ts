import { isCheckpointError } from "../../errors.js";
import type { ByteBudget } from "../../tasks/budget.js";
import { SharedTask } from "../../tasks/shared.js";
import type { HostApi } from "../hosts/api.js";
import type { Answer } from "./answer.js";
import { notTheFile } from "./failures.js";
import { type HttpRequest, type RequestSettings, request } from "./request.js";
import { Attempts } from "./retry.js";
import type { Scouts } from "./scouts.js";
import { type Impostor, sniff, sniffLength } from "./sniff.js";
import { type HttpBase, type HttpTarget, targetOf } from "./target.js";
import { Versions } from "./versions.js";

/** What reading needs to know. */
export interface SessionSettings extends RequestSettings {
  readonly base: HttpBase;
  /** How the host lists, where its address tells. */
  readonly api: HostApi | undefined;
  readonly retries: number;
  readonly scouts: Scouts;
  /** Most bytes of a file that is taken whole because its parts are not to be had, and of all such files that are kept. */
  readonly wholeFileBytes: number;
  /** What streams asked for and did not read yet. */
  readonly unread: ByteBudget;
  /** Whether other threads may ask as well: they know nothing of a caller's own fetch. */
  readonly mayAskElsewhere: boolean;
}

// Development servers of single-page apps answer their page only to those who may want one.
const acceptFiles = "application/octet-stream, application/json;q=0.9";

/** One opening of the place: the versions of its files, and what was learnt of the server. */
export class HttpSession {
  readonly settings: SessionSettings;
  readonly versions = new Versions();
  #pagesForAbsent: SharedTask<boolean> | undefined;

  constructor(settings: SessionSettings) {
    this.settings = settings;
  }

  /** The tries of one read. */
  attempts(retries = this.settings.retries): Attempts {
    return new Attempts(retries, this.settings.clock);
  }

  /** As {@link request}. */
  async ask(asked: Omit<HttpRequest, "accept">): Promise<Answer | undefined> {
    return request(this.settings, { ...asked, accept: acceptFiles });
  }

  /** Looks at a file's beginning, by a request of its own, and throws StorageError `"not-a-checkpoint"` where it is something else. */
  async refuseImpostor(target: HttpTarget, signal: AbortSignal | undefined): Promise<void> {
    const answer = await this.ask({
      target,
      priority: "high",
      range: { offset: 0, length: sniffLength },
      attempts: this.attempts(),
      signal,
    });
    if (answer === undefined) return;
    const head = new TextEncoder().encode(await answer.text(sniffLength));
    const impostor = answer.status === 416 ? undefined : sniff(head, answer.contentType, target.path);
    if (impostor !== undefined) throw notTheFile(target, impostor);
  }

  /** Whether an answer that is no file says that there is none: by the page that a single-page app's host sends for all that it has not. */
  async isPageForAbsent(answer: Answer, impostor: Impostor, signal: AbortSignal | undefined): Promise<boolean> {
    return impostor === "html" && !answer.redirected && (await this.#answersPagesForAbsent(signal));
  }

  /** Asks once for a file that cannot be there. */
  #answersPagesForAbsent(signal: AbortSignal | undefined): Promise<boolean> {
    if (this.#pagesForAbsent === undefined || this.#pagesForAbsent.abandoned) {
      this.#pagesForAbsent = new SharedTask((shared) => this.#probe(shared));
    }
    return this.#pagesForAbsent.join({ signal });
  }

  async #probe(signal: AbortSignal): Promise<boolean> {
    const { base, clock } = this.settings;
    const target = targetOf(base, `absent-${clock.random().toString(36).slice(2)}`);
    try {
      const answer = await this.ask({ target, priority: "high", attempts: this.attempts(), signal });
      if (answer === undefined) return false;
      const head = new TextEncoder().encode(await answer.text(sniffLength));
      return !answer.redirected && sniff(head, answer.contentType, target.path) === "html";
    } catch (error) {
      if (isCheckpointError(error, "Storage")) return false;
      throw error;
    }
  }
}
