import { formatJson } from "../../bytes/formatJson.js";
import { longestJson, parseJsonInTurns } from "../../bytes/json.js";
import { CorruptCheckpointError, UnsupportedCheckpointError } from "../../errors.js";
import { openOcdbt } from "../../ocdbt/open.js";
import { parseArrayMetadatas } from "../../pytree/arrayMetadatas.js";
import { type KeyPath, leafPath, paramName } from "../../pytree/keyPath.js";
import { findString } from "../../pytree/strings.js";
import { TreeBuilder } from "../../pytree/tree.js";
import { parseTreeMetadataInTurns, type TreeEntry, type TreeMetadata, valueTypes } from "../../pytree/treeMetadata.js";
import type { ReadableStorage } from "../../storage/storage.js";
import { subfolder } from "../../storage/subfolder.js";
import type { TaskContext } from "../../tasks/context.js";
import type { Pace } from "../../tasks/pace.js";
import { type ArrayStorage, openZarrArrays, type ZarrArray } from "../../zarr/openArray.js";
import { withFolder } from "./errorPaths.js";
import type { StoredLeaf, StoredTree } from "./leaves.js";

/** The index of one item: its tree and where its arrays lie, known before any chunk is read. */
export interface ItemIndex {
  readonly name: string;
  /** Its folder, from the storage's root: what paths in errors begin with. */
  readonly folder: string;
  readonly tree: StoredTree;
  /** Leaves and empty nodes in tree order. */
  readonly leaves: readonly StoredLeaf[];
  /** Holds the arrays' chunks: an OCDBT database, or the item's folder. */
  readonly arrays: ReadableStorage;
  /** Whether a chunk that is not there was lost; otherwise it holds the fill value. */
  readonly missingChunksAreLost: boolean;
}

/** The node under which substrax puts each item, since old Orbax refuses bare leaves. */
const itemNode = "tree";

/**
 * Opens a pytree item that substrax wrote: reads `_METADATA`, the database's index, the metadata of every array, and the side files that its
 * leaves need.
 * @param path the item's folder, from the storage's root.
 * @throws CorruptCheckpointError naming the file that is missing or damaged.
 */
export const openItem = (name: string, root: ReadableStorage, path: string, pace: Pace, context: TaskContext): Promise<ItemIndex> =>
  withFolder(path, readIndex(name, path, subfolder(root, path), pace, context));

async function readIndex(name: string, path: string, folder: ReadableStorage, pace: Pace, context: TaskContext): Promise<ItemIndex> {
  const { metadata, database } = await readBeginnings(folder, pace, context);
  requireDatabase(metadata, database !== undefined);
  const arrays = database ?? folder;
  const [opened, strings] = await Promise.all([
    openArrays(arrays, metadata.entries, pace, context),
    readStrings(folder, metadata.entries, pace, context),
  ]);
  const keyImpls = await readKeyImpls(folder, opened, pace, context);
  const tree = new TreeBuilder<StoredLeaf>("_METADATA");
  const leaves: StoredLeaf[] = [];
  for (const entry of metadata.entries) {
    if (pace.dueForSmallStep) await pace.rest();
    const keys = withoutItemNode(entry.path);
    const leaf = storedLeaf(entry, leafPath(keys), opened, strings, keyImpls);
    tree.add(keys, leaf);
    leaves.push(leaf);
  }
  if (pace.due) await pace.rest();
  return {
    name,
    folder: path,
    tree: tree.finish(),
    leaves,
    arrays,
    missingChunksAreLost: metadata.storeArrayDataEqualToFillValue === true,
  };
}

/**
 * Reads what does not wait for anything. An item without arrays has no database, which only its tree tells: what becomes of asking for one
 * does not matter then. From a server that sends no CORS headers with a 404 it is no answer.
 */
async function readBeginnings(folder: ReadableStorage, pace: Pace, context: TaskContext) {
  const unneeded = new AbortController();
  const signal = context.signal === undefined ? unneeded.signal : AbortSignal.any([context.signal, unneeded.signal]);
  const database = openOcdbt(folder, {}, { ...context, signal });
  database.catch(() => undefined);
  const metadata = await readTreeMetadata(folder, pace, context);
  if (metadata.entries.some(hasArray)) return { metadata, database: await database };
  unneeded.abort();
  return { metadata, database: undefined };
}

async function readTreeMetadata(folder: ReadableStorage, pace: Pace, { signal }: TaskContext): Promise<TreeMetadata> {
  const bytes = await folder.read("_METADATA", { longest: longestJson, signal });
  if (bytes === undefined) throw new CorruptCheckpointError({ path: "_METADATA", expected: "the item's tree", received: "no such file" });
  return parseTreeMetadataInTurns(bytes, "_METADATA", pace);
}

function requireDatabase({ entries, useOcdbt }: TreeMetadata, found: boolean): void {
  if (found || useOcdbt === false || !entries.some(hasArray)) return;
  if (useOcdbt === true) {
    throw new CorruptCheckpointError({ path: "manifest.ocdbt", expected: "the manifest of the item's arrays", received: "no such file" });
  }
}

const hasArray = ({ valueType, skipDeserialize }: TreeEntry): boolean =>
  !skipDeserialize && (valueTypes[valueType] === "array" || valueTypes[valueType] === "scalar");

type OpenedArrays = ReadonlyMap<TreeEntry, ZarrArray>;

async function openArrays(storage: ArrayStorage, entries: readonly TreeEntry[], pace: Pace, context: TaskContext): Promise<OpenedArrays> {
  const wanted = entries.filter(hasArray);
  const names = wanted.map(({ path }) => paramName(path));
  const arrays = await openZarrArrays(storage, names, pace, context);
  const opened = new Map<TreeEntry, ZarrArray>();
  const lost: number[] = [];
  for (const [index, entry] of wanted.entries()) {
    const array = arrays[index];
    if (array === undefined) lost.push(index);
    else opened.set(entry, array);
  }
  const [first] = lost;
  if (first === undefined) return opened;
  const paths = lost.slice(0, 20).map((index) => JSON.stringify(leafPath(wanted[index]?.path ?? [])));
  throw new CorruptCheckpointError({
    path: `${names[first]}/.zarray`,
    expected: `array metadata of ${wanted.length} leaves`,
    received: `none for ${paths.join(", ")}${lost.length > 20 ? ` and ${lost.length - 20} more` : ""}`,
  });
}

type Strings = ReadonlyMap<TreeEntry, string>;

async function readStrings(folder: ReadableStorage, entries: readonly TreeEntry[], pace: Pace, { signal }: TaskContext): Promise<Strings> {
  const strings = entries.filter(({ valueType }) => valueType === "string");
  if (strings.length === 0) return new Map();
  const path = "_strings.json";
  const bytes = await folder.read(path, { longest: longestJson, signal });
  if (bytes === undefined)
    throw new CorruptCheckpointError({ path, expected: `the texts of ${strings.length} leaves`, received: "no such file" });
  const document = await parseJsonInTurns(bytes, path, pace, { floats: "tagged" });
  return new Map(
    strings.map((entry) => {
      const name = paramName(entry.path);
      const value = findString(document, name);
      if (value === undefined)
        throw new CorruptCheckpointError({ path, expected: `a text for leaf ${JSON.stringify(name)}`, received: "none" });
      return [entry, typeof value === "string" ? value : formatJson(value)];
    }),
  );
}

type KeyImpls = ReadonlyMap<string, string>;

/** Only `array_metadatas` tells typed keys from other arrays; it is read where an array could be key data. */
async function readKeyImpls(folder: ReadableStorage, opened: OpenedArrays, pace: Pace, { signal }: TaskContext): Promise<KeyImpls> {
  if (!hasPossibleKey(opened)) return new Map();
  const path = "array_metadatas/process_0";
  const bytes = await folder.read(path, { longest: longestJson, signal });
  const metadatas = bytes === undefined ? [] : await parseArrayMetadatas(bytes, path, pace);
  return new Map(metadatas.flatMap(({ paramName, randomKeyImpl }) => (randomKeyImpl === undefined ? [] : [[paramName, randomKeyImpl]])));
}

function hasPossibleKey(opened: OpenedArrays): boolean {
  for (const [{ valueType }, { spec }] of opened) {
    if (valueType === "jax.Array" && spec.dtype === "uint32" && spec.shape.length > 0) return true;
  }
  return false;
}

function withoutItemNode(path: KeyPath): KeyPath {
  const [first, ...rest] = path;
  if (first?.key === itemNode && first.kind === "mapping") return rest;
  throw new CorruptCheckpointError({
    path: "_METADATA",
    expected: `every leaf under substrax's node ${JSON.stringify(itemNode)}`,
    received: JSON.stringify(leafPath(path)),
  });
}

function storedLeaf(entry: TreeEntry, path: string, arrays: OpenedArrays, strings: Strings, keyImpls: KeyImpls): StoredLeaf {
  const { valueType } = entry;
  const array = arrays.get(entry);
  if (valueType === "string") return { kind: "string", path, value: strings.get(entry) ?? "" };
  if (valueType === "jax.Array" || valueType === "np.ndarray" || valueType === "scalar") {
    if (array === undefined) throw aggregated(path);
    if (valueType === "scalar") requireScalar(path, array);
    return { kind: valueType, path, array, keyImpl: valueType === "jax.Array" ? keyImpls.get(array.name) : undefined };
  }
  return { kind: "empty", path, valueType };
}

const aggregated = (path: string) =>
  new UnsupportedCheckpointError(
    `leaf ${JSON.stringify(path)} lies in a msgpack file, where Orbax before 0.5.21 aggregated values; save the checkpoint again with a current Orbax`,
  );

function requireScalar(path: string, { name, spec }: ZarrArray): void {
  if (spec.shape.length === 0) return;
  throw new CorruptCheckpointError({
    path: `${name}/.zarray`,
    expected: `rank 0, since leaf ${JSON.stringify(path)} is a Python number`,
    received: `shape [${spec.shape.join(", ")}]`,
  });
}
