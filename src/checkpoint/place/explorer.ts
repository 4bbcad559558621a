import { longestJson } from "../../bytes/json.js";
import { isCheckpointError, type StorageError } from "../../errors.js";
import { keepsStreams, keptStreamOf } from "../../storage/keptStream.js";
import { listingOf } from "../../storage/listing.js";
import type { ReadableStorage, StorageListing } from "../../storage/storage.js";
import { abortable, type TaskContext } from "../../tasks/context.js";
import { isForeign } from "./foreignNames.js";

/** What stands directly in a folder. */
export interface Folder {
  readonly files: ReadonlySet<string>;
  readonly directories: ReadonlySet<string>;
  /** False where only a few names were asked for, because the place cannot list. */
  readonly isListed: boolean;
  /** True where its folder `checkpoint` is an item of that name; else it holds the array of Orbax's `ArraySave`. */
  readonly hasCheckpointItem?: boolean;
}

/** The one file whose name does not tell that it is small: flax's and Orbax's msgpack, which may hold all arrays. */
const largeFile = /(^|\/)checkpoint$/;

/** Looks into folders: by listing them where the place can, else by asking for files that are likely there. */
export class Explorer {
  /** The place, which does not ask again for files that were read by the way. */
  readonly storage: ReadableStorage;
  readonly #place: ReadableStorage;
  readonly #context: TaskContext;
  readonly #known = new Map<string, Promise<Uint8Array | undefined>>();
  readonly #peeked = new Map<string, Promise<boolean>>();
  readonly #listed = new Map<string, Promise<Folder | undefined>>();
  #whyUnlisted: StorageError | undefined;

  constructor(place: ReadableStorage, context: TaskContext) {
    this.#place = place;
    this.#context = context;
    this.storage = this.#remembering();
  }

  /** Why the place could not list a folder; undefined where it could. */
  get whyUnlisted(): StorageError | undefined {
    return this.#whyUnlisted;
  }

  /**
   * What stands in a folder, which is `""` for the place itself.
   * @param likely paths from the folder that are asked for where it cannot be listed.
   * @throws StorageError where nothing was found and the place failed.
   */
  async look(folder: string, likely: readonly string[]): Promise<Folder> {
    return (await this.listed(folder)) ?? this.#probe(prefixOf(folder), likely);
  }

  /**
   * What stands in a folder that may be an item.
   * @param likely paths as of {@link look}.
   * @param less paths that are asked for where the folder cannot be listed and none of the likely ones is there.
   */
  async lookTwice(folder: string, likely: readonly string[], less: readonly string[]): Promise<Folder> {
    const found = await this.look(folder, likely);
    const isKnown = found.isListed || found.files.size + found.directories.size > 0;
    return isKnown ? found : this.#probe(prefixOf(folder), less);
  }

  /** What a listing tells of a folder; undefined where the place has shown that it cannot list. */
  async listed(folder: string): Promise<Folder | undefined> {
    if (this.#whyUnlisted !== undefined) return undefined;
    const prefix = prefixOf(folder);
    const listing = this.#listed.get(prefix) ?? this.#list(prefix);
    this.#listed.set(prefix, listing);
    return listing;
  }

  /** Whether there is a file; a small one is read. */
  isThere(path: string): Promise<boolean> {
    if (!largeFile.test(path)) return this.#read(path).then((bytes) => bytes !== undefined);
    const peeked = this.#peeked.get(path) ?? this.#peek(path);
    this.#peeked.set(path, peeked);
    return peeked;
  }

  /** Lets go of what was read by the way. */
  forget(): void {
    this.#known.clear();
  }

  async #list(prefix: string): Promise<Folder | undefined> {
    try {
      const list = (folder: string) => this.#place.list(folder, { signal: this.#context.signal });
      const { files, directories } = withoutForeign(await list(prefix));
      const isDoubtful = directories.includes(doubtful) && !files.includes("_METADATA");
      const inside = isDoubtful ? await filesOf(list(`${prefix}${doubtful}/`)) : [];
      return { ...folderOf(files, directories, inside), isListed: true };
    } catch (error) {
      if (!isCheckpointError(error, "Storage") || error.reason === "changed") throw error;
      this.#whyUnlisted = error;
      return undefined;
    }
  }

  async #probe(prefix: string, likely: readonly string[]): Promise<Folder> {
    const outcomes = await Promise.allSettled(likely.map((path) => this.isThere(prefix + path)));
    this.#context.signal?.throwIfAborted();
    const found = likely.filter((_, index) => isTrue(outcomes[index]));
    const failure = outcomes.find((outcome) => outcome.status === "rejected");
    if (found.length === 0 && failure !== undefined) throw failure.reason;
    const { files, directories } = listingOf(found, "");
    const inside = listingOf(found, `${doubtful}/`).files;
    return { ...folderOf(files, directories, inside), isListed: false };
  }

  #read(path: string): Promise<Uint8Array | undefined> {
    const known = this.#known.get(path) ?? this.#place.read(path, { longest: longestJson, signal: this.#context.signal });
    this.#known.set(path, known);
    return known;
  }

  /** One byte tells; a file without any has none to give. */
  async #peek(path: string): Promise<boolean> {
    try {
      return (await this.#place.read(path, { range: { offset: 0, length: 1 }, signal: this.#context.signal })) !== undefined;
    } catch (error) {
      if (isCheckpointError(error, "Storage") && error.reason === "length") return true;
      throw error;
    }
  }

  #remembering(): ReadableStorage {
    const place = this.#place;
    const { size, stream, handle } = place;
    const storage: ReadableStorage = {
      ...(place.name !== undefined && { name: place.name }),
      read: async (path, options = {}) => {
        const known = options.range === undefined ? this.#known.get(path) : undefined;
        return known === undefined ? place.read(path, options) : abortable(known, options);
      },
      list: (prefix, options) => place.list(prefix, options),
      ...(size && { size: (path, options) => size.call(place, path, options) }),
      ...(stream && { stream: (path, range, options) => stream.call(place, path, range, options) }),
      ...(handle && { handle: (path, options) => handle.call(place, path, options) }),
    };
    return keepsStreams(storage, keptStreamOf(place));
  }
}

/** The name of a folder that is an array, or an item. */
const doubtful = "checkpoint";

/** Files that items have, and arrays do not. */
const filesOfItems: readonly string[] = ["_METADATA", "manifest.ocdbt", "checkpoint", "metadata", "data.json"];

function folderOf(files: readonly string[], directories: readonly string[], inside: readonly string[]): Omit<Folder, "isListed"> {
  const isItem = inside.some((file) => filesOfItems.includes(file));
  return { files: new Set(files), directories: new Set(directories), ...(isItem && { hasCheckpointItem: true }) };
}

const withoutForeign = ({ files, directories }: StorageListing): StorageListing => ({
  files: files.filter((name) => !isForeign(name)),
  directories: directories.filter((name) => !isForeign(name)),
});

/** Files of a folder by its listing; none where that is refused. */
async function filesOf(listing: Promise<StorageListing>): Promise<readonly string[]> {
  try {
    return (await listing).files;
  } catch (error) {
    if (!isCheckpointError(error, "Storage") || error.reason === "changed") throw error;
    return [];
  }
}

const prefixOf = (folder: string): string => (folder === "" ? "" : `${folder}/`);

const isTrue = (outcome: PromiseSettledResult<boolean> | undefined): boolean => outcome?.status === "fulfilled" && outcome.value;
