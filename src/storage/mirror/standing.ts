import { isCheckpointError } from "../../errors.js";
import { factsDifference } from "../fileFacts.js";
import type { FileFacts } from "../storage.js";
import type { AskedSource, Question } from "./askedSource.js";
import { changedSource } from "./failures.js";
import type { Keeper } from "./keeper.js";
import type { Keeping } from "./keeping.js";
import type { KeptFile } from "./keptFile.js";
import { verdictOf } from "./verdict.js";

/** Which of what is kept is as the source has it, by what that told one opening. */
export class Standing {
  readonly #keeper: Keeper;
  readonly #keeping: Keeping;
  readonly #source: AskedSource;
  readonly #opened = new Map<string, KeptFile>();
  /** Those that are as the source has them. */
  readonly #checked = new Set<KeptFile>();
  /** Errors that said so already. */
  readonly #said = new WeakSet<Error>();
  #epoch: Promise<string | undefined> | undefined;

  constructor(keeper: Keeper, keeping: Keeping, source: AskedSource) {
    this.#keeper = keeper;
    this.#keeping = keeping;
    this.#source = source;
  }

  /** The epoch that counts; undefined where nothing can be kept. */
  epoch(): Promise<string | undefined> {
    this.#epoch ??= this.#keeper.attempt(() => this.#keeper.folder.epoch());
    return this.#epoch;
  }

  /** A file as it is kept, if what is kept is what the source has now. */
  async open(path: string, signal: AbortSignal): Promise<KeptFile> {
    const { folder } = this.#keeper;
    const file = folder.file(path);
    const epoch = await this.epoch();
    if (epoch === undefined) return file;
    this.#opened.set(path, file);
    const useless = (await this.#keeper.attempt(() => file.load(epoch))) ?? [];
    if (useless.length > 0) await this.#keeper.attempt(() => folder.unlessWritten(() => file.clear(useless)));
    if (file.record === undefined) this.#checked.add(file);
    else if (this.#source.answers !== false) await this.#verify(file, signal);
    if (file.record?.id !== undefined) await this.#keeping.stamp(file);
    return file;
  }

  /** As the source's `ask`; an answer of another version than those before ends what is kept. */
  async ask<Value>(question: Question, ask: () => Promise<Value>): Promise<Value | undefined> {
    try {
      return await this.#source.ask(question, ask);
    } catch (error) {
      const isOurs = error instanceof Error && this.#said.has(error);
      if (!isOurs && isCheckpointError(error, "Storage") && error.reason === "changed")
        await this.changed(question.file, "it was replaced");
      throw error;
    }
  }

  /** @throws StorageError `"changed"` where the source told this opening of another version than the one that is kept now. */
  async check(file: KeptFile): Promise<void> {
    const how = file.record?.id === undefined ? undefined : factsDifference(file.record, await this.#source.told(file.path));
    if (how !== undefined) throw await this.changed(file, how);
  }

  /** Makes the record tell the version of what was fetched. @returns true where it does; throws where it tells of another version. */
  async settle(file: KeptFile, more: FileFacts = {}): Promise<boolean> {
    const epoch = await this.epoch();
    if (epoch === undefined || !this.#keeping.isOn) return false;
    const facts = { ...(await this.#source.told(file.path)), ...more };
    if (file.isSettled(epoch, facts)) return true;
    let how: string | undefined;
    await this.#keeping.attempt(() =>
      this.#keeper.folder.writing([file.path], {}, async () => {
        how = await file.settle(epoch, facts);
      }),
    );
    if (how !== undefined) throw await this.changed(file, how);
    return file.isSettled(epoch, facts);
  }

  /** Records that the source has no such file. */
  async settleAbsence(file: KeptFile): Promise<void> {
    const epoch = await this.epoch();
    if (epoch !== undefined) await this.#keeping.attempt(() => file.recordAbsence(epoch));
  }

  /** What was read before may be of a version that is no more, of any file. @returns the error that says so. */
  async changed(file: KeptFile, how: string): Promise<Error> {
    this.#opened.clear();
    await this.#renew([]);
    const error = changedSource(file.path, how);
    this.#said.add(error);
    return error;
  }

  async #verify(file: KeptFile, signal: AbortSignal): Promise<void> {
    const verdict = await verdictOf(this.#source.storage, file, signal);
    this.#source.tell(verdict !== "unanswered");
    if (verdict === "unanswered") return;
    // Another file may have begun a new epoch meanwhile.
    if (verdict === "changed" && file.record?.epoch === (await this.epoch())) await this.#renew([...this.#checked]);
    if (verdict !== "same") await this.#keeper.attempt(() => file.forget());
    this.#checked.add(file);
    const epoch = await this.epoch();
    if (epoch !== undefined) await this.#keeping.attempt(() => file.renew(epoch));
  }

  /** Lets go of all that is kept but these files, which are as the source has them. */
  async #renew(current: readonly KeptFile[]): Promise<void> {
    const before = await this.epoch();
    this.#epoch = this.#keeper.attempt(async () => {
      if (before === undefined || !this.#keeping.isOn) return undefined;
      const { folder } = this.#keeper;
      const epoch = await folder.renew(before);
      for (const file of current) await file.renew(epoch);
      await folder.clearAllBut(this.#opened.keys());
      return epoch;
    });
    await this.#epoch;
  }
}
