import type { ByteRange } from "../../bytes/ranges.js";
import { isCheckpointError } from "../../errors.js";
import type { FileFacts, ReadableStorage, StorageListing } from "../storage.js";
import { streamPieceLength } from "../streamRange.js";
import { isUnanswered, missingOffline, unlistedOffline } from "./failures.js";
import type { Keeper } from "./keeper.js";
import type { KeptFile } from "./keptFile.js";

/** What of the source is asked for, in words of errors. */
export interface Question {
  readonly file: KeptFile;
  /** Undefined: the file. */
  readonly range?: ByteRange | undefined;
  readonly signal: AbortSignal;
}

/** A mirror's source, as one opening asks it: one that gave no answer is first asked by one try. */
export class AskedSource {
  readonly storage: ReadableStorage;
  readonly #keeper: Keeper;
  #answers: boolean | undefined;

  constructor(keeper: Keeper, storage: ReadableStorage) {
    this.#keeper = keeper;
    this.storage = storage;
  }

  /** Whether it answered when it was asked last; undefined before. */
  get answers(): boolean | undefined {
    return this.#answers;
  }

  /** Notes whether it answered. */
  tell(answers: boolean): void {
    this.#answers = answers;
    if (this.#keeper.progress.offline === answers) this.#keeper.tell({ offline: !answers });
  }

  /** Asks for what is not kept; undefined where it gives no answer, and its lists say that there is no such file. */
  async ask<Value>({ file, range, signal }: Question, ask: () => Promise<Value>): Promise<Value | undefined> {
    try {
      const isOffline = this.#answers === undefined ? this.#keeper.progress.offline : !this.#answers;
      if (isOffline) await this.storage.facts?.(file.path, { signal });
      const value = await ask();
      this.tell(true);
      return value;
    } catch (error) {
      signal.throwIfAborted();
      if (!isUnanswered(error)) throw error;
      this.tell(false);
      const isUnknown = file.record === undefined;
      if (isUnknown && (await this.#keeper.attempt(() => this.#keeper.folder.isUnlisted(file.path, "files")))) return undefined;
      throw missingOffline(file, range, error);
    }
  }

  /** A range as it comes, by one request; `undefined` where there is no such file. Memory of long ones is the caller's until the next piece. */
  async *pieces(path: string, range: ByteRange, signal: AbortSignal): AsyncGenerator<Uint8Array | undefined> {
    if (this.isWhole(range)) return yield this.storage.read(path, { range, alone: true, signal });
    let hasCome = false;
    try {
      for await (const piece of this.storage.stream?.(path, range, { signal }) ?? []) {
        hasCome = true;
        yield piece;
      }
    } catch (error) {
      if (hasCome || !isCheckpointError(error, "Corrupt")) throw error;
      // Of a file that is not there a stream says no more than that.
      const first = { offset: range.offset, length: 1 };
      if ((await this.storage.read(path, { range: first, alone: true, signal })) !== undefined) throw error;
      yield undefined;
    }
  }

  /** True where a range comes in one piece, which is the caller's. */
  isWhole = ({ length }: ByteRange): boolean => this.storage.stream === undefined || length <= streamPieceLength;

  /** What it tells of a file. */
  async facts(path: string, signal: AbortSignal): Promise<FileFacts | undefined> {
    const facts = await this.storage.facts?.(path, { signal });
    return facts?.size === undefined ? { ...facts, size: await this.storage.size?.(path, { signal }) } : facts;
  }

  /** What its answers told of a file's version. */
  told = async (path: string): Promise<FileFacts> => (await this.storage.facts?.(path, { told: true })) ?? {};

  /** What it lists now, or what it listed last where it gives no answer. */
  async list(prefix: string, signal: AbortSignal, keep: (listing: StorageListing) => Promise<unknown>): Promise<StorageListing> {
    const { folder } = this.#keeper;
    const kept = await this.#keeper.attempt(() => folder.keptList(prefix));
    try {
      // By one try, where there is something else to fall back on.
      if (kept !== undefined && this.#answers !== true) await this.storage.facts?.(prefix, { signal });
      const listing = await this.storage.list(prefix, { signal });
      this.tell(true);
      await keep(listing);
      return listing;
    } catch (error) {
      if (!isUnanswered(error)) throw error;
      this.tell(false);
      if (kept !== undefined) return kept;
      const isAbsent = prefix !== "" && (await this.#keeper.attempt(() => folder.isUnlisted(prefix.slice(0, -1), "directories")));
      if (isAbsent) return { files: [], directories: [] };
      throw unlistedOffline(prefix, error);
    }
  }
}
