import { setTimeout as delay } from "node:timers/promises";
import type { PlainChromium } from "../setup/plainChromium.js";
import type { Command, Outcome, Told } from "./page/protocol.js";

/** What a page says of itself. */
export type Ready = Extract<Told, { kind: "ready" }>;

/** A page told something and waits for its next command. */
export interface Moment {
  readonly told: Told;
  answer(command: Command): void;
}

/** Until a browser that was just started, or a page that was just loaded, has done what it does at first, in milliseconds. */
const settleMs = 1000;

/** A page that waits for commands. */
export class Seat {
  readonly #browser: PlainChromium;
  readonly #next: () => Promise<Moment>;
  #answer: Moment["answer"] | undefined;
  #ready: Ready | undefined;
  #isLost = false;

  constructor(browser: PlainChromium, next: () => Promise<Moment>) {
    this.#browser = browser;
    this.#next = next;
  }

  get processId(): number {
    return this.#browser.processId;
  }

  get ready(): Ready {
    if (this.#ready === undefined) throw new Error("the page is not ready");
    return this.#ready;
  }

  /** Whether the page was given up: it ended, or says nothing. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Waits for a page's first word. */
  async begin(next = this.#hear()): Promise<void> {
    const { told, answer } = await next;
    if (told.kind === "failed") throw new Error(told.message);
    if (told.kind !== "ready") throw new Error(`a page that was just loaded says ${told.kind}`);
    this.#ready = told;
    this.#answer = answer;
    await delay(settleMs);
  }

  async run(command: Extract<Command, { kind: "run" | "save" }>): Promise<Outcome> {
    const told = await this.#tell(command);
    if (told.kind !== "done") throw new Error(`the page was to run something and says ${told.kind}`);
    return told.outcome;
  }

  /** Has the page do something that comes to nothing. */
  async perform(command: Extract<Command, { kind: "copy" | "check" }>): Promise<void> {
    await this.#tell(command);
  }

  /** Loads the page anew. */
  async reload(): Promise<void> {
    const next = this.#hear();
    this.#answer?.({ kind: "reload" });
    await this.begin(next);
  }

  close(): Promise<void> {
    return this.#browser.close();
  }

  async #tell(command: Command): Promise<Told> {
    const next = this.#hear();
    this.#answer?.(command);
    const { told, answer } = await next;
    this.#answer = answer;
    if (told.kind === "failed") throw new Error(told.message);
    return told;
  }

  /** What the page says next; to be asked before it is commanded. */
  async #hear(): Promise<Moment> {
    try {
      return await this.#next();
    } catch (error) {
      this.#isLost = true;
      throw error;
    }
  }
}
