import { longestJson } from "../../bytes/json.js";
import { CheckpointValueError, CorruptCheckpointError } from "../../errors.js";
import { type OcdbtDatabase, openOcdbt } from "../../ocdbt/open.js";
import { type KeyPath, leafPath } from "../../pytree/keyPath.js";
import type { StateLeaf } from "../../pytree/msgpack/stateLeaf.js";
import type { TreeNode } from "../../pytree/tree.js";
import { parseTreeMetadataInTurns, type TreeEntry, type TreeMetadata, valueTypes } from "../../pytree/treeMetadata.js";
import type { ReadableStorage, StorageListing } from "../../storage/storage.js";
import { subfolder } from "../../storage/subfolder.js";
import type { TaskContext } from "../../tasks/context.js";
import type { Pace } from "../../tasks/pace.js";
import { type ArrayPlace, findArrays, listingOf } from "./arrayPlaces.js";
import type { ItemLayout } from "./layout.js";
import { listed } from "./listed.js";
import { arraysInDatabases, arraysInFolders, isArray } from "./namedArrays.js";
import { entriesOfState, leafAt, type StateEntries } from "./stateEntries.js";

/** The tree of an item as its writer recorded it, and where its arrays lie. */
export interface TreeSource {
  readonly from: ItemLayout["tree"];
  /** File that the tree comes from, for errors. */
  readonly file: string;
  /** Leaves and empty nodes in tree order. */
  readonly entries: readonly TreeEntry[];
  readonly options: Omit<TreeMetadata, "entries">;
  /** What a state file says of entries; empty where none is needed. */
  readonly state: StateEntries;
  readonly stateFile: string;
  readonly place: ArrayPlace;
}

/** How {@link readTreeSource} reads. */
export interface TreeSourceOptions {
  /** Version of the item's database; the newest unless given. */
  readonly generation?: bigint | undefined;
  /** Whether the names of arrays may stand for a tree that is not there. */
  readonly allowNames: boolean;
}

/** Whether an entry's value is an array of the item's arrays. */
export const hasArray = ({ valueType, skipDeserialize }: TreeEntry): boolean =>
  !skipDeserialize && (valueTypes[valueType] === "array" || valueTypes[valueType] === "scalar");

/** Whether an entry's value is in the state file, where Orbax before 0.5.21 aggregated values. */
const isAggregated = ({ valueType, skipDeserialize }: TreeEntry): boolean => skipDeserialize && valueTypes[valueType] !== "empty";

/** Folders that hold an item each, for the key that one of Orbax's handlers of random keys wrote. */
const randomKeys = ["jax_random_key", "np_random_key"];

/** The state file of an item. */
const stateFile = "checkpoint";

/** The folder of an item that Orbax made of one array, which up to 0.11.13 no file beside it describes. */
const savedArray = "checkpoint";

/**
 * Reads an item's tree: `_METADATA`, or else the state file, or else the names of its arrays; undefined where there is none of them.
 * @throws CorruptCheckpointError where a file is damaged, or one is missing that another one refers to; CheckpointValueError for a generation
 *   that is not there.
 */
export async function readTreeSource(
  folder: ReadableStorage,
  { generation, allowNames }: TreeSourceOptions,
  pace: Pace,
  context: TaskContext,
): Promise<TreeSource | undefined> {
  const { metadata, database } = await readBeginnings(folder, generation, pace, context);
  if (generation !== undefined && database === undefined) throw noVersions(generation);
  if (metadata !== undefined) return recordedTree(folder, metadata, database, pace, context);
  if (!allowNames) return undefined;
  const listing = await listingOf(folder, "", context);
  if (listing?.directories.some((name) => randomKeys.includes(name))) return undefined;
  const place = await findArrays(folder, database, listing, context);
  return (await stateTree(folder, place, listing, pace, context)) ?? (await namedTree(folder, place, listing, context));
}

async function recordedTree(
  folder: ReadableStorage,
  { entries, ...options }: TreeMetadata,
  database: OcdbtDatabase | undefined,
  pace: Pace,
  context: TaskContext,
): Promise<TreeSource> {
  const mayBeUnmerged = database === undefined && options.useOcdbt !== false && entries.some(hasArray);
  const listing = mayBeUnmerged ? await listingOf(folder, "", context) : noListing;
  const place = await findArrays(folder, database, listing, context);
  if (place.databases === undefined && options.useOcdbt === true && entries.some(hasArray)) throw noDatabase();
  const aggregated = entries.filter(isAggregated);
  const state = aggregated.length === 0 ? new Map() : await aggregatedValues(folder, aggregated, pace, context);
  return { from: "metadata", file: "_METADATA", entries, options, state, stateFile, place };
}

const noListing: StorageListing = { files: [], directories: [] };

/** Whether a value of the state file is of the kind that the tree names. */
const standsFor = ({ kind }: StateLeaf, { valueType }: TreeEntry): boolean =>
  kind !== "empty" && (kind === "string") === (valueType === "string");

async function aggregatedValues(
  folder: ReadableStorage,
  entries: readonly TreeEntry[],
  pace: Pace,
  context: TaskContext,
): Promise<StateEntries> {
  const tree = await (await import("./stateFile.js")).openStateFile(folder, stateFile, pace, context);
  const lost: string[] = [];
  const state = new Map<TreeEntry, StateLeaf>();
  for (const entry of entries) {
    const leaf = tree && leafAt(tree, entry.path);
    if (leaf === undefined || !standsFor(leaf, entry)) lost.push(leafPath(entry.path));
    else state.set(entry, leaf);
  }
  if (lost.length === 0) return state;
  const expected = `the values of ${entries.length} leaves`;
  throw new CorruptCheckpointError({
    path: stateFile,
    expected,
    received: tree === undefined ? "no such file" : `none for ${listed(lost)}`,
  });
}

/**
 * Reads what does not wait for anything. An item without arrays has no database, which only its tree tells: what becomes of asking for one
 * does not matter then. From a server that sends no CORS headers with a 404 it is no answer.
 */
async function readBeginnings(folder: ReadableStorage, generation: bigint | undefined, pace: Pace, context: TaskContext) {
  const unneeded = new AbortController();
  const signal = context.signal === undefined ? unneeded.signal : AbortSignal.any([context.signal, unneeded.signal]);
  const database = openOcdbt(folder, { generation }, { ...context, signal });
  database.catch(() => undefined);
  const metadata = await readTreeMetadata(folder, pace, context);
  if (metadata === undefined || metadata.entries.some(hasArray)) return { metadata, database: await database };
  unneeded.abort();
  return { metadata, database: undefined };
}

async function readTreeMetadata(folder: ReadableStorage, pace: Pace, { signal }: TaskContext): Promise<TreeMetadata | undefined> {
  const bytes = await folder.read("_METADATA", { longest: longestJson, signal });
  return bytes && parseTreeMetadataInTurns(bytes, "_METADATA", pace);
}

/** The tree of a state file, which stands alone up to Orbax 0.4.2. */
async function stateTree(
  folder: ReadableStorage,
  place: ArrayPlace,
  listing: StorageListing | undefined,
  pace: Pace,
  context: TaskContext,
): Promise<TreeSource | undefined> {
  if (listing?.files.includes(stateFile) === false) return undefined;
  const tree = await (await import("./stateFile.js")).openStateFile(folder, stateFile, pace, context);
  return tree && sourceOfState(tree, stateFile, place);
}

/** A state file's tree as a source. */
export function sourceOfState(tree: TreeNode<StateLeaf>, file: string, place: ArrayPlace): TreeSource {
  const state = entriesOfState(tree);
  return { from: "msgpack", file, entries: [...state.keys()], options: {}, state, stateFile: file, place };
}

/** The names of arrays as a tree: flat, since a dot in a name may part two keys or stand within one. */
async function namedTree(
  folder: ReadableStorage,
  place: ArrayPlace,
  listing: StorageListing | undefined,
  context: TaskContext,
): Promise<TreeSource | undefined> {
  const names = place.keys === undefined ? await namesInFolders(folder, listing, context) : await arraysInDatabases(place.keys, context);
  if (names.length === 0) return undefined;
  return { from: "names", file: "the names of the arrays", entries: entriesOf(names), options: {}, state: new Map(), stateFile, place };
}

/** Where nothing is listed, an array alone is found: in the folder itself, or where Orbax's `ArraySave` puts it. */
async function namesInFolders(folder: ReadableStorage, listing: StorageListing | undefined, context: TaskContext): Promise<string[]> {
  if (listing !== undefined) return arraysInFolders(folder, listing, context);
  if (await isArray(folder, context)) return [""];
  return (await isArray(subfolder(folder, savedArray), context)) ? [savedArray] : [];
}

/** A bare array has one leaf and no keys. */
const entriesOf = (names: readonly string[]): TreeEntry[] =>
  names.map((name) => ({ path: names.length === 1 && name === "" ? [] : keyOf(name), valueType: "np.ndarray", skipDeserialize: false }));

const keyOf = (key: string): KeyPath => [{ key, kind: "mapping" }];

const noVersions = (generation: bigint) =>
  new CheckpointValueError(`generation ${generation} was asked for, but the item has no database of its own; leave generation out`);

const noDatabase = () =>
  new CorruptCheckpointError({ path: "manifest.ocdbt", expected: "the manifest of the item's arrays", received: "no such file" });
