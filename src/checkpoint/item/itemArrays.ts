import { CorruptCheckpointError } from "../../errors.js";
import { leafPath, paramName } from "../../pytree/keyPath.js";
import type { TreeEntry } from "../../pytree/treeMetadata.js";
import type { LocatedStorage } from "../../storage/located.js";
import type { ReadableStorage } from "../../storage/storage.js";
import { unitedStorage } from "../../storage/united.js";
import type { TaskContext } from "../../tasks/context.js";
import type { Pace } from "../../tasks/pace.js";
import { openZarrArrays, type ZarrArray } from "../../zarr/openArray.js";
import { openFolders } from "./arrayPlaces.js";
import type { ItemLayout } from "./layout.js";
import { hasArray, type TreeSource } from "./treeSource.js";

/** The arrays of an item, known before any of their chunks is read. */
export interface ItemArrays {
  readonly opened: ReadonlyMap<TreeEntry, ZarrArray>;
  /** Holds their chunks. */
  readonly storage: ReadableStorage | LocatedStorage;
  readonly databases: ItemLayout["databases"];
}

/**
 * Opens the arrays of all entries that have one.
 * @throws CorruptCheckpointError that lists the leaves without array metadata.
 */
export async function openItemArrays(folder: ReadableStorage, source: TreeSource, pace: Pace, context: TaskContext): Promise<ItemArrays> {
  const wanted = source.entries.filter(hasArray);
  const names = wanted.map(({ path }) => paramName(path));
  const arrays = await openZarrArrays(source.arrays, names, pace, context);
  const lost = names.filter((_, index) => arrays[index] === undefined);
  const folders = lost.length === 0 ? [] : await openFolders(folder, lost, context);
  const storage = folders.length === 0 ? source.arrays : unitedStorage([{ prefix: "", storage: source.arrays }, ...folders]);
  const found = folders.length === 0 ? [] : await openZarrArrays(storage, lost, pace, context);
  let nth = 0;
  const opened = new Map<TreeEntry, ZarrArray>();
  for (const [index, entry] of wanted.entries()) {
    const array = arrays[index] ?? found[nth++];
    if (array !== undefined) opened.set(entry, array);
  }
  requireAll(wanted, opened);
  return { opened, storage, databases: folders.length === 0 ? source.databases : "folders" };
}

/** Most leaves that a message lists. */
const mostListed = 20;

function requireAll(wanted: readonly TreeEntry[], opened: ReadonlyMap<TreeEntry, ZarrArray>): void {
  const lost = wanted.filter((entry) => !opened.has(entry));
  const [first] = lost;
  if (first === undefined) return;
  const paths = lost.slice(0, mostListed).map(({ path }) => JSON.stringify(leafPath(path)));
  const more = lost.length > mostListed ? ` and ${lost.length - mostListed} more` : "";
  throw new CorruptCheckpointError({
    path: `${paramName(first.path)}/.zarray`,
    expected: `array metadata of ${wanted.length} leaves`,
    received: `none for ${paths.join(", ")}${more}`,
  });
}
