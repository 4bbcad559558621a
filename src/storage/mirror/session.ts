import { type ByteRange, endOf } from "../../bytes/ranges.js";
import { isCheckpointError } from "../../errors.js";
import type { ByteBudget } from "../../tasks/budget.js";
import { SharedTask } from "../../tasks/shared.js";
import { fileTooLong, lengthError } from "../lengthError.js";
import type { FileFacts, ReadableStorage, StorageListing } from "../storage.js";
import { blockLength, blocksOf, cutRange } from "./extents.js";
import { changedSource, isUnanswered, missingOffline, unlistedOffline } from "./failures.js";
import type { Keeper } from "./keeper.js";
import type { KeptFile } from "./keptFile.js";
import { verdictOf } from "./verdict.js";

/** One opening of a mirrored place: each file is compared with the source once, then what is missing is fetched and kept. */
export class MirrorSession {
  readonly #keeper: Keeper;
  readonly #source: ReadableStorage;
  /** What streams have asked for ahead of their readers. */
  readonly #ahead: ByteBudget;
  readonly #life: number;
  readonly #files = new Map<string, SharedTask<KeptFile>>();
  readonly #opened = new Map<string, KeptFile>();
  /** Those that are as the source has them, by what it told this opening. */
  readonly #checked = new Set<KeptFile>();
  readonly #stamped = new Set<KeptFile>();
  #epoch: Promise<string | undefined> | undefined;
  /** Undefined before the source was asked anything. */
  #answers: boolean | undefined;
  #isFull = false;
  #askedForRoom = false;

  constructor(keeper: Keeper, source: ReadableStorage, ahead: ByteBudget) {
    this.#keeper = keeper;
    this.#source = source;
    this.#ahead = ahead;
    this.#life = keeper.life;
  }

  /** As a storage's `read` without a range. */
  async whole(path: string, longest: number | undefined, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const file = await this.#open(path, signal);
    if (file.record !== undefined && file.record.id === undefined) return undefined;
    if (file.record?.size === undefined) {
      const fetched = await this.#fetchWhole(file, longest, signal);
      if (fetched !== "as parts") return fetched;
    }
    const size = file.record?.size ?? 0;
    if (longest !== undefined && size > longest) throw fileTooLong(path, longest);
    return this.range(path, { offset: 0, length: size }, signal);
  }

  /** As a storage's `read` of a range. */
  async range(path: string, range: ByteRange, signal: AbortSignal): Promise<Uint8Array | undefined> {
    if (range.length === 0) return new Uint8Array();
    const whole = new Uint8Array(blocksOf(range).length > 1 ? range.length : 0);
    let at = 0;
    for await (const bytes of this.parts(path, range, signal)) {
      if (bytes === undefined || bytes.length === range.length) return bytes;
      whole.set(bytes, at);
      at += bytes.length;
    }
    return whole;
  }

  /** The bytes of a range in order, the next block on its way while one is used; `undefined` where there is no such file. */
  async *parts(path: string, range: ByteRange, signal: AbortSignal): AsyncGenerator<Uint8Array | undefined> {
    const file = await this.#open(path, signal);
    if (file.record !== undefined && file.record.id === undefined) return yield undefined;
    const { size } = file.record ?? {};
    if (size !== undefined && endOf(range) > size) throw lengthError(path, range, size);
    const leaving = new AbortController();
    const both = AbortSignal.any([signal, leaving.signal]);
    const blocks = blocksOf(range);
    let following: { readonly bytes: Promise<Uint8Array | undefined>; readonly release: () => void } | undefined;
    try {
      for (const [index, block] of blocks.entries()) {
        const current = following?.bytes ?? this.#part(file, block, both);
        following?.release();
        const next = blocks[index + 1];
        const release = next && this.#ahead.tryAcquire(next.length);
        following = next && release && { bytes: this.#part(file, next, both), release };
        following?.bytes.catch(() => undefined); // heard when it is waited for
        const bytes = await current;
        yield bytes;
        if (bytes === undefined) return;
      }
    } finally {
      following?.release();
      leaving.abort();
    }
  }

  /** As a storage's `size`; what the source tells is recorded. */
  async size(path: string, signal: AbortSignal): Promise<number | undefined> {
    const file = await this.#open(path, signal);
    if (file.record !== undefined && (file.record.id === undefined || file.record.size !== undefined)) return file.record.size;
    const facts = await this.#ask(file, undefined, signal, () => this.#facts(path, signal));
    if (facts?.size !== undefined) await this.#settle(file, facts);
    return facts?.size;
  }

  async #facts(path: string, signal: AbortSignal): Promise<FileFacts | undefined> {
    const facts = await this.#source.facts?.(path, { signal });
    return facts?.size === undefined ? { ...facts, size: await this.#source.size?.(path, { signal }) } : facts;
  }

  /** Keeps a whole file. */
  async fill(path: string, signal: AbortSignal): Promise<void> {
    const size = await this.size(path, signal);
    if (size === undefined) await this.whole(path, undefined, signal);
    else for await (const _ of this.parts(path, { offset: 0, length: size }, signal));
  }

  /** As a storage's `list`: what the source lists now, or what it listed last where it gives no answer. */
  async list(prefix: string, signal: AbortSignal): Promise<StorageListing> {
    const kept = await this.#keeper.attempt(() => this.#keeper.folder.keptList(prefix));
    try {
      // By one try, where there is something else to fall back on.
      if (kept !== undefined && this.#answers !== true) await this.#source.facts?.(prefix, { signal });
      const listing = await this.#source.list(prefix, { signal });
      this.#told(true);
      await this.#keep(() => this.#keeper.folder.keepList(prefix, listing));
      return listing;
    } catch (error) {
      if (!isUnanswered(error)) throw error;
      this.#told(false);
      if (kept !== undefined) return kept;
      const isAbsent =
        prefix !== "" && (await this.#keeper.attempt(() => this.#keeper.folder.isUnlisted(prefix.slice(0, -1), "directories")));
      if (isAbsent) return { files: [], directories: [] };
      throw unlistedOffline(prefix, error);
    }
  }

  #told(answers: boolean): void {
    this.#answers = answers;
    if (this.#keeper.progress.offline === answers) this.#keeper.tell({ offline: !answers });
  }

  /** False once the mirror was removed, or the disk is full: from then on this opening only reads. */
  get #keeps(): boolean {
    return !this.#isFull && this.#keeper.life === this.#life;
  }

  async #keep(work: () => Promise<void>): Promise<void> {
    if (!this.#keeps) return;
    await this.#keeper.attempt(async () => {
      try {
        await work();
      } catch (error) {
        this.#isFull = isCheckpointError(error, "Storage") && error.reason === "quota";
        throw error;
      }
    });
  }

  async #open(path: string, signal: AbortSignal): Promise<KeptFile> {
    let task = this.#files.get(path);
    if (task === undefined || task.abandoned) {
      const begun = new SharedTask((shared) => this.#openFile(path, shared));
      this.#files.set(path, begun);
      task = begun;
    }
    try {
      return await task.join({ signal });
    } catch (error) {
      if (this.#files.get(path) === task) this.#files.delete(path);
      throw error;
    }
  }

  /** A file as it is kept, if what is kept is what the source has now. */
  async #openFile(path: string, signal: AbortSignal): Promise<KeptFile> {
    const { folder } = this.#keeper;
    const file = folder.file(path);
    const epoch = await this.#epochNow();
    if (epoch === undefined) return file;
    this.#opened.set(path, file);
    const useless = (await this.#keeper.attempt(() => file.load(epoch))) ?? [];
    if (useless.length > 0) await this.#keeper.attempt(() => folder.unlessWritten(() => file.clear(useless)));
    if (file.record === undefined) this.#checked.add(file);
    else if (this.#answers !== false) await this.#verify(file, signal);
    if (file.record?.id !== undefined) await this.#stamp(file);
    return file;
  }

  /** Files without a stamp go first where there is a limit. */
  async #stamp(file: KeptFile): Promise<void> {
    if (this.#keeper.usage === undefined || this.#stamped.has(file)) return;
    this.#stamped.add(file);
    await this.#keep(() => file.stamp());
  }

  #epochNow(): Promise<string | undefined> {
    this.#epoch ??= this.#keeper.attempt(() => this.#keeper.folder.epoch());
    return this.#epoch;
  }

  async #verify(file: KeptFile, signal: AbortSignal): Promise<void> {
    const verdict = await verdictOf(this.#source, file, signal);
    this.#told(verdict !== "unanswered");
    if (verdict === "unanswered") return;
    // Another file may have begun a new epoch meanwhile.
    if (verdict === "changed" && file.record?.epoch === (await this.#epochNow())) await this.#renew([...this.#checked]);
    if (verdict !== "same") await this.#keeper.attempt(() => file.forget());
    this.#checked.add(file);
    const epoch = await this.#epochNow();
    if (epoch !== undefined) await this.#keep(() => file.renew(epoch));
  }

  /** Lets go of all that is kept but these files, which are as the source has them. */
  async #renew(current: readonly KeptFile[]): Promise<void> {
    const before = await this.#epochNow();
    this.#epoch = this.#keeper.attempt(async () => {
      if (before === undefined || !this.#keeps) return undefined;
      const { folder } = this.#keeper;
      const epoch = await folder.renew(before);
      for (const file of current) await file.renew(epoch);
      await folder.clearAllBut(this.#opened.keys());
      return epoch;
    });
    await this.#epoch;
  }

  async #part(file: KeptFile, part: ByteRange, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const pieces = cutRange(part, file.extents);
    if (pieces.every(({ extent }) => extent !== undefined)) return this.#gather(file, part, signal);
    return this.#writing(file, part, signal, () => this.#gather(file, part, signal));
  }

  /** While nobody else, in any tab, fetches the same block. */
  #writing<Value>(file: KeptFile, { offset }: ByteRange, signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
    const block = Math.floor(offset / blockLength);
    return this.#keeper.folder.writing([file.path, block], { signal }, async () => {
      const epoch = await this.#epochNow();
      if (epoch !== undefined) await this.#keeper.attempt(() => file.refresh(epoch));
      return work();
    });
  }

  async #gather(file: KeptFile, part: ByteRange, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const pieces = cutRange(part, file.extents);
    const gathered = await Promise.all(
      pieces.map(async ({ extent, ...piece }) => (extent && (await this.#kept(file, piece, extent))) ?? this.#fetch(file, piece, signal)),
    );
    if (gathered.length === 1) return gathered[0];
    const whole = new Uint8Array(part.length);
    for (const [index, bytes] of gathered.entries()) {
      if (bytes === undefined) throw await this.#changed(file, "it is gone");
      whole.set(bytes, (pieces[index]?.offset ?? 0) - part.offset);
    }
    return whole;
  }

  async #kept(file: KeptFile, piece: ByteRange, extent: ByteRange): Promise<Uint8Array | undefined> {
    const bytes = await file.read(piece, extent);
    if (bytes !== undefined) {
      const { servedBytes } = this.#keeper.progress;
      this.#keeper.tell({ path: file.path, servedBytes: servedBytes + bytes.length });
    }
    return bytes;
  }

  async #fetch(file: KeptFile, range: ByteRange, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const bytes = await this.#ask(file, range, signal, () => this.#source.read(file.path, { range, alone: true, signal }));
    if (bytes === undefined && file.extents.length > 0) throw await this.#changed(file, "it is gone");
    await this.#keepBytes(file, range.offset, bytes);
    return bytes;
  }

  /** Of a file of unknown length, which comes in parts where it has more than a block and its length is told. */
  async #fetchWhole(file: KeptFile, longest: number | undefined, signal: AbortSignal): Promise<Uint8Array | undefined | "as parts"> {
    const read = (most: number | undefined) => this.#source.read(file.path, { longest: most, signal });
    const most = Math.min(longest ?? Number.POSITIVE_INFINITY, blockLength);
    return this.#writing(file, { offset: 0, length: most }, signal, async () => {
      if (file.record?.size !== undefined) return "as parts";
      const bytes = await this.#ask(file, undefined, signal, async () => {
        try {
          return await read(most);
        } catch (error) {
          if (!isCheckpointError(error, "Storage") || error.reason !== "length" || most === longest) throw error;
          const facts = await this.#facts(file.path, signal);
          if (facts?.size === undefined || (await this.#settle(file, facts)) !== true) return read(longest);
          return "as parts" as const;
        }
      });
      if (bytes === "as parts") return bytes;
      await this.#keepBytes(file, 0, bytes, { size: bytes?.length });
      return bytes;
    });
  }

  /** Asks the source for bytes; where it gave no answer before, first by one try. */
  async #ask<Value>(
    file: KeptFile,
    range: ByteRange | undefined,
    signal: AbortSignal,
    ask: () => Promise<Value>,
  ): Promise<Value | undefined> {
    try {
      const isOffline = this.#answers === undefined ? this.#keeper.progress.offline : !this.#answers;
      if (isOffline) await this.#source.facts?.(file.path, { signal });
      const value = await ask();
      this.#told(true);
      return value;
    } catch (error) {
      signal.throwIfAborted();
      if (isCheckpointError(error, "Storage") && error.reason === "changed") await this.#changed(file, "it was replaced");
      if (!isUnanswered(error)) throw error;
      this.#told(false);
      const isUnknown = file.record === undefined;
      if (isUnknown && (await this.#keeper.attempt(() => this.#keeper.folder.isUnlisted(file.path, "files")))) return undefined;
      throw missingOffline(file, range, error);
    }
  }

  /** Records, then keeps what was fetched; both fail without harm. */
  async #keepBytes(file: KeptFile, offset: number, bytes: Uint8Array | undefined, more: FileFacts = {}): Promise<void> {
    if (bytes === undefined) {
      const epoch = await this.#epochNow();
      if (epoch !== undefined) await this.#keep(() => file.recordAbsence(epoch));
      return;
    }
    const { fetchedBytes } = this.#keeper.progress;
    this.#keeper.tell({ path: file.path, fetchedBytes: fetchedBytes + bytes.length });
    if (!this.#askedForRoom) {
      this.#askedForRoom = true;
      await this.#keep(() => this.#keeper.folder.requireRoom(bytes.length));
    }
    const told = (await this.#source.facts?.(file.path, { told: true })) ?? {};
    if (!(await this.#settle(file, { ...told, ...more }))) return;
    for (const { offset: at, length } of blocksOf({ offset, length: bytes.length })) {
      await this.#keep(() => file.keep({ offset: at, length }, bytes.subarray(at - offset, at - offset + length)));
    }
    await this.#stamp(file);
    await this.#keep(async () => this.#keeper.usage?.grew(bytes.length));
  }

  /** Makes the record tell the version of what was fetched. @returns true where it does; throws where it tells of another version. */
  async #settle(file: KeptFile, facts: FileFacts): Promise<boolean> {
    const epoch = await this.#epochNow();
    if (epoch === undefined || !this.#keeps) return false;
    if (file.isSettled(epoch, facts)) return true;
    let how: string | undefined;
    await this.#keep(() =>
      this.#keeper.folder.writing([file.path], {}, async () => {
        how = await file.settle(epoch, facts);
      }),
    );
    if (how !== undefined) throw await this.#changed(file, how);
    return file.isSettled(epoch, facts);
  }

  /** What was read before may be of a version that is no more, of any file. */
  async #changed(file: KeptFile, how: string): Promise<Error> {
    this.#opened.clear();
    await this.#renew([]);
    return changedSource(file.path, how);
  }
}
