import { compareText } from "../../bytes/compareText.js";
import { longestJson } from "../../bytes/json.js";
import { CorruptCheckpointError } from "../../errors.js";
import type { OcdbtDatabase } from "../../ocdbt/open.js";
import type { ReadableStorage, StorageListing } from "../../storage/storage.js";
import type { TaskContext } from "../../tasks/context.js";
import { openDatabaseIn } from "./arrayPlaces.js";

/** Files that hold an array's metadata. */
const metadataFiles = [".zarray", "zarr.json"];

/** Most names, and folders within folders: more than any checkpoint has. */
const most = { names: 2 ** 20, depth: 64 };

/** Names of the arrays in databases, each once. */
export async function arraysInDatabases(databases: readonly Pick<OcdbtDatabase, "keys">[], context: TaskContext): Promise<string[]> {
  const names = new Set<string>();
  for (const database of databases) {
    for await (const key of database.keys("", context)) {
      const name = arrayOf(key);
      if (name !== undefined) names.add(name);
    }
  }
  return [...names].sort(byParts);
}

/** The array whose metadata a key holds. */
function arrayOf(key: string): string | undefined {
  const slash = key.lastIndexOf("/");
  return metadataFiles.includes(key.slice(slash + 1)) ? key.slice(0, Math.max(0, slash)) : undefined;
}

/** Folders of an item that hold no arrays. */
const isOther = (name: string) => /^(?:d|ocdbt_(?:meta|data)|array_metadatas|ocdbt\.process_.*)$/.test(name);

/**
 * Names of the arrays in folders of their own, and in databases that lie in folders. A folder with chunks alone counts too: listings often
 * leave out files that begin with a dot.
 */
export async function arraysInFolders(folder: ReadableStorage, listing: StorageListing, context: TaskContext): Promise<string[]> {
  const names = new Set<string>();
  const look = async (prefix: string, { files, directories }: StorageListing, depth: number): Promise<void> => {
    context.signal?.throwIfAborted();
    if (depth > most.depth || names.size > most.names) throw tooMany(prefix);
    if (holdsArray({ files, directories }, prefix === "")) return void names.add(prefix.slice(0, -1));
    if (prefix !== "" && files.includes("manifest.ocdbt")) await lookInDatabase(prefix);
    const below = directories.filter((name) => prefix !== "" || !isOther(name));
    for (const name of below) {
      const inside = `${prefix}${name}/`;
      await look(inside, await folder.list(inside, { signal: context.signal }), depth + 1);
    }
  };
  const lookInDatabase = async (prefix: string) => {
    const database = await openDatabaseIn(folder, prefix.slice(0, -1), context);
    for (const name of database === undefined ? [] : await arraysInDatabases([database], context))
      names.add(name === "" ? prefix.slice(0, -1) : prefix + name);
  };
  await look("", listing, 0);
  return [...names].sort(byParts);
}

function holdsArray({ files, directories }: StorageListing, isRoot: boolean): boolean {
  if (files.some((name) => metadataFiles.includes(name))) return true;
  return !isRoot && directories.length === 0 && files.some((name) => /^\d+(?:\.\d+)*$/.test(name));
}

const tooMany = (path: string) =>
  new CorruptCheckpointError({ path, expected: `at most ${most.names} arrays, in at most ${most.depth} folders`, received: "more" });

/** Whether a folder is an array, for places that cannot list. */
export async function isArray(folder: ReadableStorage, { signal }: TaskContext): Promise<boolean> {
  const files = await Promise.all(metadataFiles.map((name) => folder.read(name, { longest: longestJson, signal })));
  return files.some((file) => file !== undefined);
}

/** Part by part, numbers first and by their value: `l.9` before `l.10`. */
function byParts(a: string, b: string): number {
  const [left, right] = [a.split("."), b.split(".")];
  for (const [index, part] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    if (part !== other) return rankOf(part) - rankOf(other) || compareText(part, other);
  }
  return left.length - right.length;
}

const rankOf = (part: string): number => (/^\d{1,15}$/.test(part) ? Number(part) : Number.MAX_SAFE_INTEGER);
