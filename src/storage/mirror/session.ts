import { type ByteRange, endOf } from "../../bytes/ranges.js";
import type { ByteBudget } from "../../tasks/budget.js";
import { SharedTask } from "../../tasks/shared.js";
import { fileTooLong, lengthError } from "../lengthError.js";
import type { ReadableStorage, StorageListing } from "../storage.js";
import type { Arriving } from "./arriving.js";
import { AskedSource } from "./askedSource.js";
import { Blocks, type Opening } from "./blocks.js";
import { blocksOf } from "./extents.js";
import type { Keeper } from "./keeper.js";
import { Keeping } from "./keeping.js";
import type { KeptFile } from "./keptFile.js";
import { Standing } from "./standing.js";

/** One opening of a mirrored place: each file is compared with the source once, then what is missing is fetched and kept. */
export class MirrorSession {
  readonly #opening: Opening;
  readonly #blocks: Blocks;
  /** What streams have asked for ahead of their readers. */
  readonly #ahead: ByteBudget;
  readonly #files = new Map<string, SharedTask<KeptFile>>();

  constructor(keeper: Keeper, storage: ReadableStorage, ahead: ByteBudget) {
    const keeping = new Keeping(keeper);
    const source = new AskedSource(keeper, storage);
    this.#opening = { keeper, keeping, source, standing: new Standing(keeper, keeping, source) };
    this.#blocks = new Blocks(this.#opening);
    this.#ahead = ahead;
  }

  /** As a storage's `read` without a range. */
  async whole(path: string, longest: number | undefined, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const file = await this.#open(path, signal);
    if (isAbsent(file)) return undefined;
    if (file.record?.size === undefined) {
      const fetched = await this.#blocks.whole(file, longest, signal);
      if (fetched !== "known") return fetched;
    }
    const size = file.record?.size ?? 0;
    if (longest !== undefined && size > longest) throw fileTooLong(path, longest);
    return this.range(path, { offset: 0, length: size }, signal);
  }

  /** As a storage's `read` of a range. */
  async range(path: string, range: ByteRange, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const file = await this.#openFor(path, range, signal);
    if (file === undefined) return undefined;
    const blocks = blocksOf(range);
    if (blocks.length === 1) return this.#blocks.part(file, range, signal).whole();
    const whole = new Uint8Array(range.length);
    let at = 0;
    for await (const bytes of this.#partsOf(file, blocks, signal)) {
      if (bytes === undefined) return undefined;
      whole.set(bytes, at);
      at += bytes.length;
    }
    return whole;
  }

  /** The bytes of a range in order as they come, the next block on its way while one is used; `undefined` where there is no such file. */
  async *parts(path: string, range: ByteRange, signal: AbortSignal): AsyncGenerator<Uint8Array | undefined> {
    const file = await this.#openFor(path, range, signal);
    if (file === undefined) yield undefined;
    else yield* this.#partsOf(file, blocksOf(range), signal);
  }

  async *#partsOf(file: KeptFile, blocks: readonly ByteRange[], signal: AbortSignal): AsyncGenerator<Uint8Array | undefined> {
    const leaving = new AbortController();
    const both = AbortSignal.any([signal, leaving.signal]);
    let following: { readonly arriving: Arriving; readonly release: () => void } | undefined;
    try {
      for (const [index, block] of blocks.entries()) {
        const current = following?.arriving ?? this.#blocks.lentPart(file, block, both);
        following?.release();
        const next = blocks[index + 1];
        const release = next && this.#ahead.tryAcquire(next.length);
        following = next && release && { arriving: this.#blocks.lentPart(file, next, both), release };
        for await (const bytes of current.pieces()) {
          yield bytes;
          if (bytes === undefined) return;
        }
        current.release();
      }
    } finally {
      following?.release();
      leaving.abort();
    }
  }

  /** As a storage's `size`; what the source tells is recorded. */
  async size(path: string, signal: AbortSignal): Promise<number | undefined> {
    const { source, standing } = this.#opening;
    const file = await this.#open(path, signal);
    if (isAbsent(file) || file.record?.size !== undefined) return file.record?.size;
    const facts = await standing.ask({ file, signal }, () => source.facts(path, signal));
    if (facts?.size !== undefined) await standing.settle(file, facts);
    return facts?.size;
  }

  /** Keeps a whole file. */
  async fill(path: string, signal: AbortSignal): Promise<void> {
    const size = await this.size(path, signal);
    if (size === undefined) await this.whole(path, undefined, signal);
    else for await (const _ of this.parts(path, { offset: 0, length: size }, signal));
  }

  /** As a storage's `list`: what the source lists now, or what it listed last where it gives no answer. */
  list(prefix: string, signal: AbortSignal): Promise<StorageListing> {
    const { keeper, keeping, source } = this.#opening;
    return source.list(prefix, signal, (listing) => keeping.attempt(() => keeper.folder.keepList(prefix, listing)));
  }

  /** Undefined where there is no such file. @throws StorageError `"length"` where the range reaches past its end. */
  async #openFor(path: string, range: ByteRange, signal: AbortSignal): Promise<KeptFile | undefined> {
    const file = await this.#open(path, signal);
    if (isAbsent(file)) return undefined;
    const { size } = file.record ?? {};
    if (size !== undefined && endOf(range) > size) throw lengthError(path, range, size);
    return file;
  }

  async #open(path: string, signal: AbortSignal): Promise<KeptFile> {
    let task = this.#files.get(path);
    if (task === undefined || task.abandoned) {
      const begun = new SharedTask((shared) => this.#opening.standing.open(path, shared));
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
}

const isAbsent = ({ record }: KeptFile): boolean => record !== undefined && record.id === undefined;
