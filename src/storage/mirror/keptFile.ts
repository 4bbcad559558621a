import { type ByteRange, endOf } from "../../bytes/ranges.js";
import { isCheckpointError } from "../../errors.js";
import { factsDifference, joinFacts } from "../fileFacts.js";
import { fileLength } from "../fileLength.js";
import type { FileFacts, WritableStorage } from "../storage.js";
import { streamPieceLength, streamRange } from "../streamRange.js";
import { blockAt, blockLength, cutRange, extentName, growingName, parseExtentName, parseGrowingName } from "./extents.js";
import { type ExtentWriter, extentWriter } from "./extentWriter.js";
import { type FileRecord, formatRecord, newId, parseFileRecord } from "./records.js";

const recordName = "record.json";

/** The name of the file that says when bytes were used last, in milliseconds since 1970; undefined for any other file. */
export const parseStamp = (name: string): number | undefined => {
  const [, time] = /^used\.(\d{1,15})$/.exec(name) ?? [];
  return time === undefined ? undefined : Number(time);
};

/**
 * What a mirror has of one of the source's files: a folder with a record, which says which version it is, and a file for each extent, whole
 * by its name and of that version by its name. While an extent is fetched its file grows under another name, which says no length: whoever
 * writes it, or finds that its writer is gone, gives it the name of the length that it has. Whatever else stands there counts for nothing.
 */
export class KeptFile {
  readonly path: string;
  readonly #cache: WritableStorage;
  readonly #folder: string;
  #record: FileRecord | undefined;
  #extents: readonly ByteRange[] = [];
  /** Where extents begin that somebody writes, or wrote until they ended. */
  #growing: readonly number[] = [];
  #stamps: readonly string[] = [];
  /** The version that does not count any more; `""`: that there is no such file. */
  #forgotten: string | undefined;

  constructor(path: string, cache: WritableStorage, folder: string) {
    this.path = path;
    this.#cache = cache;
    this.#folder = folder;
  }

  /** Undefined where nothing is known, or it belongs to another epoch. */
  get record(): FileRecord | undefined {
    return this.#record;
  }

  get extents(): readonly ByteRange[] {
    return this.#extents;
  }

  /** Bytes that it has. */
  get byteLength(): number {
    const { size } = this.#record ?? {};
    const kept = this.#extents.reduce((sum, { length }) => sum + length, 0);
    return size === undefined ? kept : Math.min(kept, size);
  }

  /** True where every byte is there. */
  get isComplete(): boolean {
    const { size } = this.#record ?? {};
    return size !== undefined && cutRange({ offset: 0, length: size }, this.#extents).every(({ extent }) => extent !== undefined);
  }

  /** Looks at what is there. @returns names of files that are of no use to this epoch. */
  async load(epoch: string): Promise<string[]> {
    const { files } = await this.#cache.list(`${this.#folder}/`);
    const stored = files.includes(recordName) ? await this.#stored() : undefined;
    this.#record = stored?.epoch === epoch && stored.path === this.path ? stored : undefined;
    this.#take(files);
    const id = this.#record?.id ?? "";
    const isUseful = (name: string) => name === recordName || parseStamp(name) !== undefined || versionOf(name) === id;
    return files.filter((name) => !isUseful(name));
  }

  /** Looks at which extents there are now; others may have added some, or begun them. To be called by who alone writes in a block. */
  async refresh(epoch: string, block: number): Promise<void> {
    if (this.#record?.id === undefined) await this.load(epoch);
    else this.#take((await this.#cache.list(`${this.#folder}/`)).files);
    for (const offset of this.#growing) if (blockAt(offset) === block) await this.#name(offset);
  }

  #take(files: readonly string[]): void {
    const { id } = this.#record ?? {};
    this.#growing = files.flatMap((name) => {
      const growing = parseGrowingName(name);
      return growing !== undefined && growing.id === id ? [growing.offset] : [];
    });
    this.#stamps = files.filter((name) => parseStamp(name) !== undefined);
    this.#extents = files.flatMap((name) => {
      const extent = parseExtentName(name);
      return extent !== undefined && extent.id === id ? [extent] : [];
    });
  }

  /** Takes nothing that is there for the file any longer, whether it can be removed or not. */
  async forget(): Promise<void> {
    this.#forgotten = this.#record?.id ?? "";
    this.#record = undefined;
    this.#extents = [];
    const { files } = await this.#cache.list(`${this.#folder}/`);
    await this.clear([recordName, ...files.filter((name) => versionOf(name) === this.#forgotten)]);
  }

  /**
   * A range that lies in one of the extents, and less where that is not there any more, or damaged: it counts for nothing then. A short one
   * comes in one piece, which is the caller's; of others each is, until the next.
   */
  async *pieces(range: ByteRange, extent: ByteRange): AsyncGenerator<Uint8Array> {
    const path = this.#extentPath(extent);
    const within = { offset: range.offset - extent.offset, length: range.length };
    let left = range.length;
    let failure: unknown;
    try {
      for await (const bytes of piecesOf(this.#cache, path, within)) {
        left -= bytes.length;
        yield bytes;
      }
    } catch (cause) {
      failure = cause;
    }
    if (left === 0) return;
    this.#extents = this.#extents.filter((one) => one !== extent);
    // Too short: whoever wrote it said that all was written, and it was not.
    if (isCheckpointError(failure, "Storage") && failure.reason === "length") await this.#cache.remove(path).catch(() => undefined);
  }

  /**
   * Makes the record say what is known of the file's version; to be called by one at a time.
   * @returns how the version differs from the one that is recorded, and leaves that then.
   */
  async settle(epoch: string, facts: FileFacts): Promise<string | undefined> {
    const stored = await this.#stored();
    const known = stored?.epoch === epoch && stored.id !== undefined ? stored : undefined;
    const how = known && factsDifference(known, facts);
    if (how !== undefined) return how;
    const record = { path: this.path, epoch, id: known?.id ?? newId(), ...joinFacts(known ?? {}, facts) };
    if (record.id !== this.#record?.id) this.#extents = [];
    if (known !== undefined && tellsAll(known, facts)) this.#record = known;
    else await this.#write(record);
    return undefined;
  }

  /** False where a record has to be written before bytes of this version are. */
  isSettled(epoch: string, facts: FileFacts): boolean {
    return this.#record?.id !== undefined && this.#record.epoch === epoch && tellsAll(this.#record, facts);
  }

  /** Records that the source has no such file. */
  recordAbsence = (epoch: string): Promise<void> => this.#write({ path: this.path, epoch });

  /** Takes what there is over into another epoch. */
  async renew(epoch: string): Promise<void> {
    if (this.#record !== undefined && this.#record.epoch !== epoch) await this.#write({ ...this.#record, epoch });
  }

  /** Begins to keep bytes of the recorded version from a position on. To be called by who alone writes in the block. */
  async begin(offset: number): Promise<ExtentWriter> {
    const growing = await this.#cache.create(this.#growingPath(offset), { inPlace: true });
    return extentWriter(this.path, growing, (least) => this.#name(offset, least));
  }

  /**
   * Makes an extent of what is in a file that grew: the length that it has is what counts, since a writer may have ended in the middle.
   * @param least Bytes that were written by all that was said: where there are fewer, as a cache of the caller's own may have, nothing is sure.
   * @returns its bytes; undefined where it was removed meanwhile, with all of its version.
   */
  async #name(offset: number, least = 0): Promise<number | undefined> {
    const path = this.#growingPath(offset);
    const length = await fileLength(this.#cache, path, {});
    if (length === undefined) return undefined;
    const end = Math.min((blockAt(offset) + 1) * blockLength, this.#record?.size ?? Number.POSITIVE_INFINITY);
    const extent = { offset, length };
    if (length === 0 || length < least || endOf(extent) > end) {
      await this.#cache.remove(path);
      return 0;
    }
    await this.#cache.move(path, this.#extentPath(extent));
    this.#extents = [...this.#extents, extent];
    return length;
  }

  #extentPath = (extent: ByteRange): string => `${this.#folder}/${extentName(this.#record?.id ?? "", extent)}`;

  #growingPath = (offset: number): string => `${this.#folder}/${growingName(this.#record?.id ?? "", offset)}`;

  /** Notes that it is used now. */
  async stamp(): Promise<void> {
    const old = this.#stamps;
    const stamp = `used.${Date.now()}`;
    await this.#cache.write(`${this.#folder}/${stamp}`, new Uint8Array());
    this.#stamps = [stamp];
    await this.clear(old.filter((name) => name !== stamp));
  }

  /** Removes files of its folder. */
  async clear(names: readonly string[]): Promise<void> {
    for (const name of names) await this.#cache.remove(`${this.#folder}/${name}`);
  }

  async #stored(): Promise<FileRecord | undefined> {
    const record = parseFileRecord(await this.#cache.read(`${this.#folder}/${recordName}`));
    return record === undefined || (record.id ?? "") === this.#forgotten ? undefined : record;
  }

  async #write(record: FileRecord): Promise<void> {
    await this.#cache.write(`${this.#folder}/${recordName}`, formatRecord(record));
    this.#record = record;
  }
}

/** True where a record has these facts, too. */
const tellsAll = (record: FileFacts, { etag, modified, size }: FileFacts): boolean =>
  [etag ?? record.etag, modified ?? record.modified, size ?? record.size].every(
    (fact, index) => fact === [record.etag, record.modified, record.size][index],
  );

async function* piecesOf(storage: WritableStorage, path: string, range: ByteRange): AsyncGenerator<Uint8Array> {
  if (range.length > streamPieceLength) return yield* streamRange(storage, path, range);
  const bytes = await storage.read(path, { range });
  if (bytes !== undefined) yield bytes;
}

const versionOf = (name: string): string | undefined => (parseExtentName(name) ?? parseGrowingName(name))?.id;
