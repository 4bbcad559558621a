import type { ByteRange } from "../../bytes/ranges.js";
import { isCheckpointError, StorageError } from "../../errors.js";
import { factsDifference, joinFacts } from "../fileFacts.js";
import type { FileFacts, WritableStorage } from "../storage.js";
import { cutRange, extentName, parseExtentName } from "./extents.js";
import { type FileRecord, formatRecord, newId, parseFileRecord } from "./records.js";

const recordName = "record.json";

/** The name of the file that says when bytes were used last, in milliseconds since 1970; undefined for any other file. */
export const parseStamp = (name: string): number | undefined => {
  const [, time] = /^used\.(\d{1,15})$/.exec(name) ?? [];
  return time === undefined ? undefined : Number(time);
};

/**
 * What a mirror has of one of the source's files: a folder with a record, which says which version it is, and a file for each extent, whole
 * by its name and of that version by its name. Whatever else stands there counts for nothing.
 */
export class KeptFile {
  readonly path: string;
  readonly #cache: WritableStorage;
  readonly #folder: string;
  #record: FileRecord | undefined;
  #extents: readonly ByteRange[] = [];
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
    const isUseful = (name: string) =>
      name === recordName || parseStamp(name) !== undefined || parseExtentName(name)?.id === (this.#record?.id ?? "");
    return files.filter((name) => !isUseful(name));
  }

  /** Looks at which extents there are now; others may have added some. */
  async refresh(epoch: string): Promise<void> {
    if (this.#record?.id === undefined) await this.load(epoch);
    else this.#take((await this.#cache.list(`${this.#folder}/`)).files);
  }

  #take(files: readonly string[]): void {
    const { id } = this.#record ?? {};
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
    await this.clear([recordName, ...files.filter((name) => parseExtentName(name)?.id === this.#forgotten)]);
  }

  /** A range that lies in one of the extents; undefined where that is not there any more, or damaged. */
  async read(range: ByteRange, extent: ByteRange): Promise<Uint8Array | undefined> {
    const { id } = this.#record ?? {};
    const path = `${this.#folder}/${extentName(id ?? "", extent)}`;
    const within = { offset: range.offset - extent.offset, length: range.length };
    const bytes = await this.#cache.read(path, { range: within }).catch((error: unknown) => error);
    if (bytes instanceof Uint8Array && bytes.length === range.length) return bytes;
    this.#extents = this.#extents.filter((one) => one !== extent);
    // Too short: whoever wrote it said that all was written, and it was not.
    if (isCheckpointError(bytes, "Storage") && bytes.reason === "length") await this.#cache.remove(path).catch(() => undefined);
    return undefined;
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

  /** Keeps bytes of the recorded version. */
  async keep(range: ByteRange, bytes: Uint8Array): Promise<void> {
    const { id } = this.#record ?? {};
    if (id === undefined || bytes.length !== range.length) throw new Error("unreachable: bytes of no version, or too few");
    const path = `${this.#folder}/${extentName(id, range)}`;
    await this.#cache.write(path, bytes);
    if (!(await this.#endsAt(path, range.length))) {
      await this.#cache.remove(path).catch(() => undefined);
      throw new StorageError({
        path: this.path,
        reason: "quota",
        message: "the cache took fewer bytes than it said; free space on the disk",
      });
    }
    this.#extents = [...this.#extents, range];
  }

  /** Notes that it is used now. */
  async stamp(): Promise<void> {
    const old = this.#stamps;
    const stamp = `used.${Date.now()}`;
    await this.#cache.write(`${this.#folder}/${stamp}`, new Uint8Array());
    this.#stamps = [stamp];
    await this.clear(old.filter((name) => name !== stamp));
  }

  /** Chromium, in windows that keep nothing on the disk, says of files for which it had no room that they were written. */
  async #endsAt(path: string, byteLength: number): Promise<boolean> {
    const last = { offset: byteLength - 1, length: 1 };
    return (await this.#cache.read(path, { range: last }).catch(() => undefined))?.length === 1;
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
