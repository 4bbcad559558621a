import { CorruptCheckpointError, UnsupportedCheckpointError } from "../../errors.js";
import { leafPath, paramName } from "../../pytree/keyPath.js";
import type { StateArray, StateNumber } from "../../pytree/msgpack/stateLeaf.js";
import { type TreeEntry, valueTypes } from "../../pytree/treeMetadata.js";
import type { LocatedStorage } from "../../storage/located.js";
import { isPath } from "../../storage/paths.js";
import type { ReadableStorage } from "../../storage/storage.js";
import { type UnitedPart, unitedStorage } from "../../storage/united.js";
import type { TaskContext } from "../../tasks/context.js";
import type { Pace } from "../../tasks/pace.js";
import { type OpenArraysOptions, openZarrArrays, type ZarrArray } from "../../zarr/openArray.js";
import { openFolders } from "./arrayPlaces.js";
import type { ItemLayout } from "./layout.js";
import { listed } from "./listed.js";
import { type NamedEntry, readMarkedStrings } from "./sideFiles.js";
import { stateArrays } from "./stateArrays.js";
import type { TreeSource } from "./treeSource.js";

/** The arrays of an item, known before any of their chunks is read. */
export interface ItemArrays {
  readonly opened: ReadonlyMap<TreeEntry, ZarrArray>;
  /** Leaves that turned out to be texts. */
  readonly texts: ReadonlyMap<TreeEntry, string>;
  /** Holds their chunks. */
  readonly storage: ReadableStorage | LocatedStorage;
  readonly layout: Pick<ItemLayout, "arrays" | "databases" | "zarr">;
}

/** What the names of arrays within a state file begin with, which no other name does. */
const withinState = "checkpoint\0/";

/**
 * Opens the arrays of all entries that have one.
 * @throws CorruptCheckpointError that lists the leaves without array metadata.
 */
export async function openItemArrays(folder: ReadableStorage, source: TreeSource, pace: Pace, context: TaskContext): Promise<ItemArrays> {
  const values: (StateArray | StateNumber)[] = [];
  const wanted = namedEntries(source, values);
  const base: UnitedPart[] = [{ prefix: "", storage: source.place.arrays }];
  if (values.length > 0) base.push({ prefix: withinState, storage: stateArrays(folder, source.stateFile, values) });
  const inFolders = source.place.databases === undefined;
  const names = wanted.map(({ name }) => name);
  const options = { pace, likely: source.options.useZarr3 === true ? 3 : 2 } as const;
  const arrays = await openNamed(unitedStorage(base), names, inFolders, options, context);
  const lost = names.filter((_, index) => arrays[index] === undefined);
  const folders = lost.length === 0 ? [] : await openFolders(folder, lost, context);
  const storage = unitedStorage([...base, ...folders]);
  const otherNames = inFolders ? lost.map(withSlashes) : lost;
  const isHopeless = folders.length === 0 && otherNames.every((name, index) => name === lost[index]);
  const found = isHopeless ? [] : await openNamed(storage, otherNames, inFolders, options, context);
  let nth = 0;
  const opened = new Map<TreeEntry, ZarrArray>();
  for (const [index, { entry }] of wanted.entries()) {
    const array = arrays[index] ?? found[nth++];
    if (array !== undefined) opened.set(entry, array);
  }
  const unopened = wanted.filter(({ entry }) => !opened.has(entry));
  const texts = source.from === "msgpack" ? await readMarkedStrings(folder, unopened, context) : new Map<TreeEntry, string>();
  requireNone(
    unopened.filter(({ entry }) => !texts.has(entry)),
    wanted.length,
  );
  return { opened, texts, storage, layout: layoutOf(opened, folders.length > 0 ? "folders" : source.place.databases) };
}

/** Opens arrays, of which those have none in folders whose names are no paths: TensorStore wrote them outside of the item, or nowhere. */
async function openNamed(
  storage: LocatedStorage,
  names: readonly string[],
  inFolders: boolean,
  options: OpenArraysOptions,
  context: TaskContext,
): Promise<(ZarrArray | undefined)[]> {
  const isNamed = (name: string) => !inFolders || name.startsWith(withinState) || isPath(name.replace(/\/$/, "")) || name === "";
  const arrays = await openZarrArrays(storage, names.filter(isNamed), options, context);
  let nth = 0;
  return names.map((name) => (isNamed(name) ? arrays[nth++] : undefined));
}

/** The folder that TensorStore since 0.1.63 makes of a name with backslashes; earlier versions keep them. */
const withSlashes = (name: string): string => name.replaceAll("\\", "/").replace(/\/$/, "");

/** Entries with an array; those within the state file are added to `values`. */
function namedEntries({ entries, state }: TreeSource, values: (StateArray | StateNumber)[]): NamedEntry[] {
  const named: NamedEntry[] = [];
  for (const entry of entries) {
    const leaf = state.get(entry);
    if (leaf?.kind === "stored") named.push({ entry, name: leaf.name });
    else if (leaf?.kind === "array" || leaf?.kind === "number") named.push({ entry, name: withinState + (values.push(leaf) - 1) });
    else if (leaf === undefined && isArray(entry)) named.push({ entry, name: paramName(entry.path) });
  }
  return named;
}

const isArray = ({ valueType }: TreeEntry): boolean => valueTypes[valueType] === "array" || valueTypes[valueType] === "scalar";

function requireNone(lost: readonly NamedEntry[], wanted: number): void {
  const [first] = lost;
  if (first === undefined) return;
  const foreign = lost.find(({ entry }) => entry.foreignType !== undefined);
  if (foreign !== undefined) throw foreignError(foreign.entry);
  throw new CorruptCheckpointError({
    path: `${first.name}/.zarray`,
    expected: `array metadata of ${wanted} leaves`,
    received: `none for ${listed(lost.map(({ entry }) => leafPath(entry.path)))}`,
  });
}

const foreignError = ({ path, foreignType }: TreeEntry) =>
  new UnsupportedCheckpointError(
    `leaf ${JSON.stringify(leafPath(path))} has the value type ${JSON.stringify(foreignType)}, which a type handler of the writer's own gave, and no array is stored for it; save it as an array`,
  );

function layoutOf(opened: ReadonlyMap<TreeEntry, ZarrArray>, databases: ItemLayout["databases"]): ItemArrays["layout"] {
  const outside = Array.from(opened.values()).filter(({ name }) => !name.startsWith(withinState));
  const arrays: ItemLayout["arrays"][number][] = [];
  if (outside.length > 0) arrays.push(databases === undefined ? "directories" : "ocdbt");
  if (outside.length < opened.size) arrays.push("msgpack");
  return { arrays, databases, zarr: [...new Set(outside.map(({ version }) => version))].sort() };
}
