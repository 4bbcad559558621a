import { longestJson } from "../../bytes/json.js";
import { CorruptCheckpointError } from "../../errors.js";
import { openOcdbt } from "../../ocdbt/open.js";
import type { KeyPath } from "../../pytree/keyPath.js";
import { parseTreeMetadataInTurns, type TreeEntry, type TreeMetadata, valueTypes } from "../../pytree/treeMetadata.js";
import type { LocatedStorage } from "../../storage/located.js";
import type { ReadableStorage } from "../../storage/storage.js";
import type { TaskContext } from "../../tasks/context.js";
import type { Pace } from "../../tasks/pace.js";
import { listingOf, openProcesses, uniteDatabases } from "./arrayPlaces.js";
import type { ItemLayout } from "./layout.js";
import { arraysInDatabases, arraysInFolders, isArray } from "./namedArrays.js";

/** The tree of an item as its writer recorded it, and where its arrays lie. */
export interface TreeSource {
  readonly from: ItemLayout["tree"];
  /** File that the tree comes from, for errors. */
  readonly file: string;
  /** Leaves and empty nodes in tree order. */
  readonly entries: readonly TreeEntry[];
  readonly options: Omit<TreeMetadata, "entries">;
  /** The item's database, those of its processes as one, or its folder. */
  readonly arrays: ReadableStorage | LocatedStorage;
  readonly databases: "single" | "processes" | undefined;
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

/**
 * Reads an item's tree: `_METADATA`, or else the names of its arrays.
 * @throws CorruptCheckpointError where a file is damaged, or where there is no tree.
 */
export async function readTreeSource(
  folder: ReadableStorage,
  { generation, allowNames }: TreeSourceOptions,
  pace: Pace,
  context: TaskContext,
): Promise<TreeSource> {
  const { metadata, database } = await readBeginnings(folder, generation, pace, context);
  if (metadata === undefined) {
    if (!allowNames) throw noTree();
    return namedTree(folder, database, context);
  }
  const { entries, ...options } = metadata;
  const source = { from: "metadata", file: "_METADATA", entries, options } as const;
  if (database !== undefined) return { ...source, arrays: database, databases: "single" };
  const processes = options.useOcdbt !== false && entries.some(hasArray) ? await openProcesses(folder, context) : [];
  if (processes.length > 0) return { ...source, arrays: uniteDatabases(processes), databases: "processes" };
  if (options.useOcdbt === true && entries.some(hasArray)) throw noDatabase();
  return { ...source, arrays: folder, databases: undefined };
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

/** The tree of an item without `_METADATA`: flat, since a dot in a name may part two keys or stand within one. */
async function namedTree(
  folder: ReadableStorage,
  database: Awaited<ReturnType<typeof openOcdbt>>,
  context: TaskContext,
): Promise<TreeSource> {
  const source = { from: "names", file: "the names of the arrays", options: {} } as const;
  const processes = database === undefined ? await openProcesses(folder, context) : [];
  const databases = database === undefined ? processes : [database];
  if (databases.length > 0) {
    const entries = entriesOf(await arraysInDatabases(databases, context));
    return { ...source, entries, arrays: uniteDatabases(databases), databases: database === undefined ? "processes" : "single" };
  }
  const names = await namesInFolders(folder, context);
  if (names.length === 0) throw noTree();
  return { ...source, entries: entriesOf(names), arrays: folder, databases: undefined };
}

async function namesInFolders(folder: ReadableStorage, context: TaskContext): Promise<string[]> {
  const listing = await listingOf(folder, "", context);
  if (listing !== undefined) return arraysInFolders(folder, listing, context);
  return (await isArray(folder, context)) ? [""] : [];
}

/** A bare array has one leaf and no keys. */
const entriesOf = (names: readonly string[]): TreeEntry[] =>
  names.map((name) => ({ path: names.length === 1 && name === "" ? [] : keyOf(name), valueType: "np.ndarray", skipDeserialize: false }));

const keyOf = (key: string): KeyPath => [{ key, kind: "mapping" }];

const noTree = () => new CorruptCheckpointError({ path: "_METADATA", expected: "the item's tree", received: "no such file" });

const noDatabase = () =>
  new CorruptCheckpointError({ path: "manifest.ocdbt", expected: "the manifest of the item's arrays", received: "no such file" });
