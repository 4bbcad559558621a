import { StorageError } from "../../errors.js";
import { type OcdbtDatabase, openOcdbt } from "../../ocdbt/open.js";
import type { LocatedStorage } from "../../storage/located.js";
import type { ReadableStorage, StorageListing } from "../../storage/storage.js";
import { subfolder } from "../../storage/subfolder.js";
import { type UnitedPart, unitedStorage } from "../../storage/united.js";
import type { TaskContext } from "../../tasks/context.js";
import { eachWithFolder, withFolder } from "./errorPaths.js";

/** A database in a folder of the item, whose locations and errors name files from the item on. */
export interface PlacedDatabase extends LocatedStorage, Pick<OcdbtDatabase, "keys"> {}

/** Opens the database in a folder of the item; undefined where there is none. */
export async function openDatabaseIn(folder: ReadableStorage, path: string, context: TaskContext): Promise<PlacedDatabase | undefined> {
  const database = await withFolder(path, openOcdbt(subfolder(folder, path), {}, context));
  return (
    database && {
      locateAll: async (keys, paced) => {
        const locations = await withFolder(path, database.locateAll(keys, paced));
        return locations.map((location) => location && { ...location, storage: folder, path: `${path}/${location.path}` });
      },
      readAll: (keys, options) => withFolder(path, database.readAll(keys, options)),
      keys: (prefix, task) => eachWithFolder(path, database.keys(prefix, task)),
    }
  );
}

/** What a folder holds; undefined where the place cannot list. */
export async function listingOf(folder: ReadableStorage, prefix: string, { signal }: TaskContext): Promise<StorageListing | undefined> {
  try {
    return await folder.list(prefix, { signal });
  } catch (error) {
    if (error instanceof StorageError && error.reason === "cannot-list") return undefined;
    throw error;
  }
}

/** Most folders that are looked into for databases of their own. */
const mostFolders = 4096;

/** Where the arrays of an item lie. */
export interface ArrayPlace {
  readonly arrays: ReadableStorage | LocatedStorage;
  /** Undefined where each array has a folder. */
  readonly databases: "single" | "processes" | undefined;
  /** The keys of all databases, where there are any. */
  readonly keys?: readonly Pick<OcdbtDatabase, "keys">[] | undefined;
}

/**
 * The item's database, or else those that the processes of a save wrote and no one merged, as one; or else its folder.
 * @param listing of the folder; undefined where the place cannot list.
 */
export async function findArrays(
  folder: ReadableStorage,
  database: OcdbtDatabase | undefined,
  listing: StorageListing | undefined,
  context: TaskContext,
): Promise<ArrayPlace> {
  if (database !== undefined) return { arrays: database, databases: "single", keys: [database] };
  const processes = listing === undefined ? await openCounted(folder, context) : await openProcesses(folder, listing, context);
  if (processes.length === 0) return { arrays: folder, databases: undefined };
  return { arrays: unitedStorage(processes.map((storage) => ({ prefix: "", storage }))), databases: "processes", keys: processes };
}

/** Numbers may have gaps, and Orbax knows names without a number. */
async function openProcesses(folder: ReadableStorage, { directories }: StorageListing, context: TaskContext): Promise<PlacedDatabase[]> {
  const names = directories.filter((name) => name.startsWith(processPrefix)).sort(byNumber);
  const opened = await Promise.all(names.slice(0, mostFolders).map((name) => openDatabaseIn(folder, name, context)));
  return opened.filter((database) => database !== undefined);
}

const processPrefix = "ocdbt.process_";

const byNumber = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : 1);

/** Without a listing, those from 0 on up to the first gap. */
async function openCounted(folder: ReadableStorage, context: TaskContext): Promise<PlacedDatabase[]> {
  const databases: PlacedDatabase[] = [];
  while (databases.length < mostFolders) {
    const database = await openDatabaseIn(folder, `${processPrefix}${databases.length}`, context);
    if (database === undefined) break;
    databases.push(database);
  }
  return databases;
}

/** Arrays that are looked for first: where none of them has a database, no other has. */
const firstLooks = 8;

/**
 * Databases in folders of their own that hold some of the arrays: one that is called as the array, or, as Orbax 0.3 made them, as what of its
 * name comes before the last slash.
 */
export async function openFolders(folder: ReadableStorage, names: readonly string[], context: TaskContext): Promise<UnitedPart[]> {
  const listing = await listingOf(folder, "", context);
  const known = listing && new Set(listing.directories);
  const some = names.filter((name) => known?.has(name.split("/", 1)[0] ?? "") ?? true);
  const first = await openAll(folder, some.slice(0, firstLooks), context);
  return first.length === 0 ? [] : [...first, ...(await openAll(folder, some.slice(firstLooks), context))];
}

async function openAll(folder: ReadableStorage, names: readonly string[], context: TaskContext): Promise<UnitedPart[]> {
  const paths = new Set(names.flatMap((name) => [name.slice(0, Math.max(0, name.lastIndexOf("/"))), name]).filter((path) => path !== ""));
  const parts = await Promise.all(
    [...paths].slice(0, mostFolders).map(async (path): Promise<UnitedPart | undefined> => {
      const storage = await openDatabaseIn(folder, path, context);
      return storage && { prefix: `${path}/`, storage };
    }),
  );
  return parts.filter((part) => part !== undefined);
}
