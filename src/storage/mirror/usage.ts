import { fileLength } from "../fileLength.js";
import type { WritableStorage } from "../storage.js";
import { parseExtentName, parseGrowingName } from "./extents.js";
import { parseStamp } from "./keptFile.js";

/** A file's folder in the cache, of any mirror. */
interface KeptFolder {
  readonly path: string;
  /** Names of its extents. */
  readonly extents: readonly string[];
  readonly byteLength: number;
  /** When it was used last, in milliseconds since 1970; 0 where nothing tells. */
  readonly used: number;
}

/** Part of the limit that is left free when files had to go, so that not each further write looks again. */
const spare = 0.1;

/** Keeps all mirrors of a cache within a limit together: files that were used longest ago go first. */
export class Usage {
  readonly #cache: WritableStorage;
  readonly #limit: number;
  #byteLength: number | undefined;

  constructor(cache: WritableStorage, limit: number) {
    this.#cache = cache;
    this.#limit = limit;
  }

  /** To be told after so many bytes were kept. */
  async grew(byteLength: number): Promise<void> {
    this.#byteLength = this.#byteLength === undefined ? totalOf(await keptFolders(this.#cache)) : this.#byteLength + byteLength;
    if (this.#byteLength > this.#limit) await this.#shrink();
  }

  /** Counts anew, since other tabs keep and remove too. Records stay, so that a file that comes back is of the same version. */
  async #shrink(): Promise<void> {
    const folders = (await keptFolders(this.#cache)).sort((a, b) => a.used - b.used);
    let left = totalOf(folders);
    if (left > this.#limit) {
      for (const { path, extents, byteLength } of folders) {
        if (left <= this.#limit * (1 - spare)) break;
        for (const name of extents) await this.#cache.remove(`${path}/${name}`);
        left -= byteLength;
      }
    }
    this.#byteLength = left;
  }
}

/** Bytes that the mirror in a folder of the cache has. */
export const keptBytes = async (cache: WritableStorage, mirror: string): Promise<number> => totalOf(await foldersOf(cache, mirror));

const totalOf = (folders: readonly KeptFolder[]) => folders.reduce((sum, { byteLength }) => sum + byteLength, 0);

async function keptFolders(cache: WritableStorage): Promise<KeptFolder[]> {
  const { directories } = await cache.list("");
  return (await Promise.all(directories.map((mirror) => foldersOf(cache, mirror)))).flat();
}

async function foldersOf(cache: WritableStorage, mirror: string): Promise<KeptFolder[]> {
  const { directories } = await cache.list(`${mirror}/files/`);
  return Promise.all(
    directories.map(async (name) => {
      const path = `${mirror}/files/${name}`;
      const { files } = await cache.list(`${path}/`);
      const extents = files.filter((file) => parseExtentName(file) !== undefined);
      const growing = files.filter((file) => parseGrowingName(file) !== undefined);
      const lengths = await Promise.all(growing.map((file) => fileLength(cache, `${path}/${file}`, {})));
      const named = extents.map((file) => parseExtentName(file)?.length);
      const byteLength = [...named, ...lengths].reduce<number>((sum, length) => sum + (length ?? 0), 0);
      return { path, extents, byteLength, used: Math.max(0, ...files.map((file) => parseStamp(file) ?? 0)) };
    }),
  );
}
