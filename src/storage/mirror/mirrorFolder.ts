import { isCheckpointError } from "../../errors.js";
import type { TaskContext } from "../../tasks/context.js";
import { locksOf } from "../locks/locksOf.js";
import type { StorageListing, WritableStorage } from "../storage.js";
import { folderName, lockName } from "./folderName.js";
import { KeptFile } from "./keptFile.js";
import { formatRecord, newId, parseListRecord, parseMirrorRecord } from "./records.js";
import { keptBytes } from "./usage.js";

const recordName = "mirror.json";

/** Held shared by those who write, so that who takes it alone knows that unfinished files are nobody's. */
const writersLock = "mirror-writers";

/** The part of a cache that mirrors one source: a record with the epoch, and a folder for each file and each list. */
export class MirrorFolder {
  /** Its name, also at the next visit. */
  readonly source: string;
  readonly #cache: WritableStorage;
  readonly #path: string;

  constructor(cache: WritableStorage, source: string) {
    this.#cache = cache;
    this.source = source;
    this.#path = folderName(source);
  }

  /** What is kept of a file, which has to be loaded. */
  file(path: string): KeptFile {
    return new KeptFile(path, this.#cache, `${this.#path}/files/${folderName(path)}`);
  }

  /** The epoch that files must be of to count; a new one where there is none. */
  async epoch(): Promise<string> {
    return (await this.#stored())?.epoch ?? this.#alone(async () => (await this.#stored())?.epoch ?? this.#begin());
  }

  /** Begins a new epoch, at once for all files; the one that somebody else began where it is no longer `from`. */
  async renew(from: string): Promise<string> {
    return this.#alone(async () => {
      const current = (await this.#stored())?.epoch;
      return current !== undefined && current !== from ? current : this.#begin();
    });
  }

  /** Removes the files of all paths but these; what somebody still writes goes when it is of use to nobody later. */
  async clearAllBut(paths: Iterable<string>): Promise<void> {
    const kept = new Set(Array.from(paths, folderName));
    const { directories } = await this.#cache.list(`${this.#path}/files/`);
    for (const name of directories) if (!kept.has(name)) await this.#cache.remove(`${this.#path}/files/${name}`).catch(unlessBusy);
  }

  /** Removes all; the record first, so that what a closed tab leaves counts for nothing. */
  async remove(): Promise<void> {
    await this.#alone(async () => {
      await this.#cache.remove(`${this.#path}/${recordName}`);
      await this.#cache.remove(this.#path);
    });
  }

  /** Bytes of the source that are kept. */
  byteLength = (): Promise<number> => keptBytes(this.#cache, this.#path);

  async keepList(prefix: string, { files, directories }: StorageListing): Promise<void> {
    await this.#cache.write(this.#listPath(prefix), formatRecord({ prefix, files, directories }));
  }

  /** What was listed last; undefined where nothing was. */
  async keptList(prefix: string): Promise<StorageListing | undefined> {
    const record = parseListRecord(await this.#cache.read(this.#listPath(prefix)));
    return record?.prefix === prefix ? { files: record.files, directories: record.directories } : undefined;
  }

  /** True where the lists say that there is no such file, or folder. */
  async isUnlisted(path: string, kind: "files" | "directories"): Promise<boolean> {
    const parts = path.split("/");
    for (let depth = parts.length - 1; depth >= 0; depth--) {
      const list = await this.keptList(
        parts
          .slice(0, depth)
          .map((part) => `${part}/`)
          .join(""),
      );
      if (list === undefined) continue;
      const names = depth === parts.length - 1 ? list[kind] : list.directories;
      return !names.includes(parts[depth] ?? "");
    }
    return false;
  }

  /** Runs work that writes while nobody else, in any tab, does what has the same name. */
  writing<Value>(name: readonly (string | number)[], context: TaskContext, work: () => Promise<Value>): Promise<Value> {
    return this.#locked(writersLock, "shared", context, () => this.#locked(lockName(this.source, ...name), "exclusive", context, work));
  }

  /** Runs work while nobody writes; not at all where somebody does. */
  async unlessWritten(work: () => Promise<void>): Promise<void> {
    await locksOf(this.#cache).hold(writersLock, { mode: "exclusive", wait: false }, work);
  }

  /** To be asked before the first bytes are kept. @throws StorageError `"quota"` where there is no room for them. */
  async requireRoom(byteLength: number): Promise<void> {
    await this.#cache.requireRoom?.(byteLength);
  }

  #alone<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.#locked(lockName(this.source), "exclusive", {}, work);
  }

  /** Where there are no locks to be had, work runs without: others may fetch the same bytes then, and nothing worse. */
  async #locked<Value>(name: string, mode: "shared" | "exclusive", { signal }: TaskContext, work: () => Promise<Value>): Promise<Value> {
    let begun = false;
    const begin = () => {
      begun = true;
      return work();
    };
    try {
      const held = await locksOf(this.#cache).hold(name, { mode, wait: true, signal }, begin);
      if (held !== undefined) return held.value;
    } catch (error) {
      signal?.throwIfAborted();
      if (begun) throw error;
    }
    return work();
  }

  async #stored() {
    return parseMirrorRecord(await this.#cache.read(`${this.#path}/${recordName}`));
  }

  async #begin(): Promise<string> {
    const epoch = newId();
    // What a closed tab left half written; nobody else writes here now.
    const { files } = await this.#cache.list(`${this.#path}/`);
    for (const name of files) if (name !== recordName) await this.#cache.remove(`${this.#path}/${name}`);
    await this.#cache.write(`${this.#path}/${recordName}`, formatRecord({ source: this.source, epoch }));
    return epoch;
  }

  #listPath = (prefix: string): string => `${this.#path}/lists/${folderName(prefix)}.json`;
}

function unlessBusy(error: unknown): void {
  if (!isCheckpointError(error, "Storage") || error.reason !== "busy") throw error;
}
