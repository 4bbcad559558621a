import type { ByteRange } from "../../bytes/ranges.js";
import { isCheckpointError, StorageError } from "../../errors.js";
import { lengthError } from "../lengthError.js";
import type { FileFacts } from "../storage.js";
import { streamPieceLength } from "../streamRange.js";
import { Arriving } from "./arriving.js";
import type { AskedSource } from "./askedSource.js";
import { BlockMemory } from "./blockMemory.js";
import { blockAt, blockLength, blocksOf, cutRange } from "./extents.js";
import type { Keeper } from "./keeper.js";
import type { Keeping } from "./keeping.js";
import type { KeptFile } from "./keptFile.js";
import type { Standing } from "./standing.js";

/** What one opening works with. */
export interface Opening {
  readonly keeper: Keeper;
  readonly keeping: Keeping;
  readonly source: AskedSource;
  readonly standing: Standing;
}

/**
 * Brings parts of files, out of the cache as far as that has them, and keeps what had to be fetched: each piece is handed on first and
 * written beside. One at a time, in all tabs, fetches and writes in a block.
 */
export class Blocks {
  readonly #opening: Opening;
  readonly #memory = new BlockMemory();

  constructor(opening: Opening) {
    this.#opening = opening;
  }

  /** Begins to bring a part that lies in one block; whoever waits for it hears of failures. */
  part(file: KeptFile, part: ByteRange, signal: AbortSignal): Arriving {
    return this.#begin(file, part, new Arriving(part.length), signal);
  }

  /** The same, in lent memory: who has read it releases it. */
  lentPart(file: KeptFile, part: ByteRange, signal: AbortSignal): Arriving {
    return this.#begin(file, part, new Arriving(part.length, this.#memory), signal);
  }

  #begin(file: KeptFile, part: ByteRange, arriving: Arriving, signal: AbortSignal): Arriving {
    const work = this.#bring(file, part, arriving, signal).catch((error: unknown) => arriving.fail(error));
    this.#opening.keeper.working(work.finally(() => arriving.release()));
    return arriving;
  }

  /** A file of unknown length, at once; `"known"` where its length is known now, or that there is no such file. */
  whole(file: KeptFile, longest: number | undefined, signal: AbortSignal): Promise<Uint8Array | undefined | "known"> {
    return new Promise((resolve, reject) => {
      const work = this.#alone(file, 0, signal, async () => {
        const bytes = isKnown(file) ? "known" : await this.#readWhole(file, longest, signal);
        if (bytes === "known") return resolve(bytes);
        const kept = this.#opening.keeper.arrived();
        resolve(bytes);
        await this.#keepWhole(file, bytes).finally(kept);
      });
      this.#opening.keeper.working(work.catch(reject));
    });
  }

  async #bring(file: KeptFile, part: ByteRange, arriving: Arriving, signal: AbortSignal): Promise<void> {
    await this.#serve(file, part, arriving);
    if (arriving.isWhole) return;
    await this.#alone(file, blockAt(part.offset), signal, async () => {
      for (;;) {
        const missing = await this.#serve(file, part, arriving);
        if (missing === undefined) return;
        if (!(await this.#fetch(file, missing, arriving, signal))) return arriving.endAbsent();
      }
    });
  }

  /** Hands on what is kept, as far as it goes. @returns the next piece that is not. */
  async #serve(file: KeptFile, part: ByteRange, arriving: Arriving): Promise<ByteRange | undefined> {
    const { keeper } = this.#opening;
    for (;;) {
      const rest = { offset: part.offset + arriving.length, length: part.length - arriving.length };
      const [piece] = cutRange(rest, file.extents);
      if (piece === undefined) return undefined;
      const { extent, ...range } = piece;
      if (extent === undefined) return range;
      // An extent that is gone, or damaged, ends early, and is none from then on.
      for await (const bytes of file.pieces(range, extent)) {
        keeper.tell({ path: file.path, servedBytes: keeper.progress.servedBytes + bytes.length });
        if (range.length <= streamPieceLength) arriving.give(bytes);
        else arriving.add(bytes);
      }
    }
  }

  /** Fetches what lies in no extent. @returns false where there is no such file. */
  async #fetch(file: KeptFile, range: ByteRange, arriving: Arriving, signal: AbortSignal): Promise<boolean> {
    const { keeper, source, standing } = this.#opening;
    const written = await keeper.unwritten.acquire(range.length, { signal });
    const start = arriving.length;
    let keeping: Promise<void> | undefined;
    let kept = () => {};
    let left = range.length;
    try {
      const isThere = await standing.ask({ file, range, signal }, async () => {
        for await (const bytes of source.pieces(file.path, range, signal)) {
          if (bytes === undefined) return false;
          if (bytes.length > left) throw moreThanAsked(file.path, range);
          if (left === range.length) await standing.check(file);
          left -= bytes.length;
          if (left === 0) kept = keeper.arrived();
          this.#came(file, bytes.length);
          if (source.isWhole(range)) arriving.give(bytes);
          else arriving.add(bytes);
          // Beside, since a connection that waits for the cache may be one that the cache's code has to come by.
          keeping ??= this.#keep(file, range, arriving.from(start, range.length));
        }
        if (left > 0) throw lengthError(file.path, range, range.offset + range.length - left);
        return true;
      });
      if (isThere) return true;
      if (keeping !== undefined) throw await standing.changed(file, "it is gone");
    } catch (error) {
      arriving.fail(error);
      throw error;
    } finally {
      await keeping;
      kept();
      written();
    }
    if (file.extents.length > 0) throw await standing.changed(file, "it is gone");
    await standing.settleAbsence(file);
    return false;
  }

  async #readWhole(file: KeptFile, longest: number | undefined, signal: AbortSignal): Promise<Uint8Array | undefined | "known"> {
    const { source, standing } = this.#opening;
    const most = Math.min(longest ?? Number.POSITIVE_INFINITY, blockLength);
    const read = (longest: number | undefined) => source.storage.read(file.path, { longest, signal });
    const bytes = await standing.ask({ file, signal }, async () => {
      try {
        return await read(most);
      } catch (error) {
        if (!isCheckpointError(error, "Storage") || error.reason !== "length" || most === longest) throw error;
        const facts = await source.facts(file.path, signal);
        return facts?.size !== undefined && (await standing.settle(file, facts)) ? ("known" as const) : read(longest);
      }
    });
    if (bytes === undefined || bytes === "known") return bytes;
    await standing.check(file);
    this.#came(file, bytes.length);
    return bytes;
  }

  async #keepWhole(file: KeptFile, bytes: Uint8Array | undefined): Promise<void> {
    const { standing } = this.#opening;
    if (bytes === undefined) return standing.settleAbsence(file);
    const facts = { size: bytes.length };
    await standing.settle(file, facts);
    for (const range of blocksOf({ offset: 0, length: bytes.length })) {
      const extent = this.#extent(file, range, facts);
      await extent.write(bytes.subarray(range.offset, range.offset + range.length));
      await extent.end();
    }
  }

  /** Keeps what comes of a range. Never rejects: the keeper is told. */
  async #keep(file: KeptFile, range: ByteRange, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    const extent = this.#extent(file, range);
    try {
      for await (const bytes of pieces) await extent.write(bytes);
    } catch {
      // of another version than the record's: the source says so itself when it is asked again
    } finally {
      await extent.end();
    }
  }

  /** Keeps a range as it comes, from its first piece on, until something is in the way. */
  #extent(file: KeptFile, range: ByteRange, facts?: FileFacts) {
    const { keeping } = this.#opening;
    let begun: ReturnType<Keeping["begin"]> | undefined;
    let goesOn = true;
    return {
      write: async (bytes: Uint8Array): Promise<void> => {
        begun ??= this.#beginExtent(file, range, facts);
        const writer = await begun;
        if (writer !== undefined && goesOn) goesOn = await keeping.attempt(() => writer.write(bytes));
      },
      end: async (): Promise<void> => {
        const writer = await begun?.catch(() => undefined);
        if (writer !== undefined) await keeping.end(file, writer);
      },
    };
  }

  /** Undefined where it cannot be kept. */
  async #beginExtent(file: KeptFile, { offset, length }: ByteRange, facts: FileFacts | undefined) {
    const { keeping, standing } = this.#opening;
    await keeping.requireRoom(length);
    return (await standing.settle(file, facts)) ? keeping.begin(file, offset) : undefined;
  }

  /** While nobody else, in any tab, fetches the same block. */
  #alone<Value>(file: KeptFile, block: number, signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
    const { keeper, standing } = this.#opening;
    return keeper.folder.writing([file.path, block], { signal }, async () => {
      const epoch = await standing.epoch();
      if (epoch !== undefined) await keeper.attempt(() => file.refresh(epoch, block));
      await standing.check(file);
      return work();
    });
  }

  #came(file: KeptFile, byteLength: number): void {
    const { keeper } = this.#opening;
    keeper.tell({ path: file.path, fetchedBytes: keeper.progress.fetchedBytes + byteLength });
  }
}

const moreThanAsked = (path: string, { length }: ByteRange): StorageError =>
  new StorageError({
    path,
    reason: "io",
    message: `the source gave more than the ${length} bytes that it was asked for; let its storage give just those, or the server send them uncompressed`,
  });

/** True where nothing more is to be found out before it is read in parts. */
const isKnown = ({ record }: KeptFile): boolean => record !== undefined && (record.id === undefined || record.size !== undefined);
