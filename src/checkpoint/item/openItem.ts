import { type JsonValue, longestJson, parseJson } from "../../bytes/json.js";
import { JsonMember } from "../../bytes/jsonMember.js";
import { CorruptCheckpointError } from "../../errors.js";
import { type KeyPath, leafPath, paramName } from "../../pytree/keyPath.js";
import { leavesOf, TreeBuilder } from "../../pytree/tree.js";
import type { TreeEntry } from "../../pytree/treeMetadata.js";
import type { LocatedStorage } from "../../storage/located.js";
import type { ReadableStorage } from "../../storage/storage.js";
import { subfolder } from "../../storage/subfolder.js";
import type { TaskContext } from "../../tasks/context.js";
import type { Pace } from "../../tasks/pace.js";
import type { ZarrArray } from "../../zarr/openArray.js";
import { listingOf } from "./arrayPlaces.js";
import { withFolder } from "./errorPaths.js";
import { openItemArrays } from "./itemArrays.js";
import type { ItemLayout } from "./layout.js";
import type { StoredLeaf, StoredTree } from "./leaves.js";
import { readKeyImpls, readStrings } from "./sideFiles.js";
import { hasArray, readTreeSource, sourceOfState, type TreeSource } from "./treeSource.js";

/** The index of one item: its tree and where its arrays lie, known before any chunk is read. */
export interface ItemIndex {
  readonly name: string;
  /** Its folder, from the storage's root: what paths in errors begin with. */
  readonly folder: string;
  readonly layout: ItemLayout;
  readonly tree: StoredTree;
  /** Leaves and empty nodes in tree order. */
  readonly leaves: readonly StoredLeaf[];
  /** Holds the arrays' chunks: an OCDBT database, the item's folder, or several such. */
  readonly arrays: ReadableStorage | LocatedStorage;
  /** Whether a chunk of the array that is not there was lost; otherwise it holds the fill value. */
  missingChunksAreLost(array: ZarrArray): boolean;
  /** Whether it is what one process wrote, so that chunks may be elsewhere. */
  readonly isPart: boolean;
  /** What the writer gave as the item's own metadata. */
  readonly customMetadata: JsonValue | undefined;
  /** Orbax's rich types, as `richTypes.ts` reads them. */
  readonly valueMetadataTree: string | undefined;
  /** The node of its root that was left out. */
  readonly node: "tree" | undefined;
}

/** How {@link openItem} opens. */
export interface ItemOptions {
  /** The only node of the item's root, which its writer put there and which is left out: substrax's `"tree"`. */
  readonly node?: "tree" | undefined;
  /** Version of the item's database; the newest unless given. */
  readonly generation?: bigint | undefined;
  /** True for the database of one process: what is not in it, others wrote. */
  readonly isPart?: boolean | undefined;
  /** True where its writer is known to be one of trees, which may look like what another makes of one array. */
  readonly isTree?: boolean | undefined;
}

/**
 * Opens a pytree item: reads its tree, the index of its arrays, the metadata of each, and the side files that its leaves need.
 * @param path the item's folder, from the storage's root; or a state file of Flax.
 * @throws CorruptCheckpointError naming the file that is missing or damaged.
 * @throws CheckpointValueError for a generation that is not there.
 */
export async function openItem(
  name: string,
  root: ReadableStorage,
  path: string,
  options: ItemOptions,
  pace: Pace,
  context: TaskContext,
): Promise<ItemIndex> {
  const opening = { name, path, folder: subfolder(root, path), options, pace, context };
  const index = await withFolder(path, openFolder(opening));
  return index ?? (await openRandomKey(root, opening)) ?? (await openFile(root, opening)) ?? noTree(path);
}

/** An item that is being opened. */
interface ItemOpening {
  readonly name: string;
  readonly path: string;
  readonly folder: ReadableStorage;
  readonly options: ItemOptions;
  readonly pace: Pace;
  readonly context: TaskContext;
}

async function openFolder(opening: ItemOpening): Promise<ItemIndex | undefined> {
  const { folder, options, pace, context } = opening;
  const { node, generation } = options;
  const source = await readTreeSource(folder, { generation, allowNames: node === undefined }, pace, context);
  return source && readIndex(opening, source);
}

/** What Orbax's handlers of random keys write: an item for the key, beside what is known of it. */
async function openRandomKey(root: ReadableStorage, opening: ItemOpening): Promise<ItemIndex | undefined> {
  const { path, folder, options, context } = opening;
  if (options.node !== undefined) return undefined;
  const listing = await listingOf(folder, "", context);
  const open = async (name: string) => {
    if (listing?.directories.includes(name) === false) return undefined;
    const within = path === "" ? name : `${path}/${name}`;
    return withFolder(within, openFolder({ ...opening, path: within, folder: subfolder(root, within) }));
  };
  const ofNumpy = await open("np_random_key");
  if (ofNumpy !== undefined) return ofNumpy;
  const ofJax = await open("jax_random_key");
  return ofJax && ((await withFolder(path, isTypedKey(folder, context))) ? asTypedKey(ofJax) : ofJax);
}

async function isTypedKey(folder: ReadableStorage, { signal }: TaskContext): Promise<boolean> {
  const path = "jax_random_key_metadata/metadata";
  const bytes = await folder.read(path, { longest: longestJson, signal });
  return bytes !== undefined && new JsonMember(path, "the file", parseJson(bytes, path)).booleanAt("typed");
}

/** The implementation is not stored: it is JAX's default one, which the length of a key tells. */
function asTypedKey(index: ItemIndex): ItemIndex {
  const [leaf] = index.leaves;
  if (leaf === undefined || !("array" in leaf)) return index;
  const key = { ...leaf, keyImpl: leaf.array.spec.shape.at(-1) === 4 ? "rbg" : "threefry2x32" };
  return { ...index, tree: { kind: "leaf", leaf: key }, leaves: [key] };
}

/** A file `checkpoint_<step>`, as Flax wrote it before it used Orbax. */
async function openFile(root: ReadableStorage, opening: ItemOpening): Promise<ItemIndex | undefined> {
  const { path, options, pace, context } = opening;
  if (path === "" || options.node !== undefined) return undefined;
  const tree = await (await import("./stateFile.js")).openStateFile(root, path, pace, context);
  if (tree === undefined) return undefined;
  const slash = path.lastIndexOf("/");
  const above = path.slice(0, Math.max(0, slash));
  const folder = subfolder(root, above);
  const source = sourceOfState(tree, path.slice(slash + 1), { arrays: folder, databases: undefined });
  return withFolder(above, readIndex({ ...opening, path: above, folder }, source));
}

async function readIndex({ name, path, folder, options, pace, context }: ItemOpening, source: TreeSource): Promise<ItemIndex> {
  const [arrays, strings] = await Promise.all([openItemArrays(folder, source, pace, context), readStrings(folder, source, pace, context)]);
  const keyImpls = await readKeyImpls(folder, arrays.opened, pace, context);
  const builder = new TreeBuilder<StoredLeaf>(source.file);
  for (const entry of source.entries) {
    if (pace.dueForSmallStep) await pace.rest();
    const keys = keysOf(entry, source, options);
    builder.add(keys, storedLeaf(entry, leafPath(keys), arrays.opened.get(entry), strings.get(entry) ?? arrays.texts.get(entry), keyImpls));
  }
  const tree = builder.finish();
  if (pace.due) await pace.rest();
  return {
    name,
    folder: path,
    layout: { tree: source.from, ...arrays.layout },
    tree,
    leaves: leavesOf(tree),
    arrays: arrays.storage,
    missingChunksAreLost: missingChunksAreLost(source, options),
    isPart: options.isPart === true,
    customMetadata: source.options.customMetadata,
    valueMetadataTree: source.options.valueMetadataTree,
    node: options.node,
  };
}

/**
 * What the item says of it; where it says nothing, as before Orbax 0.10, chunks of arrays without a fill value were all written, but for folders of
 * arrays that others than Orbax may have written. In steps of substrax silence means that they may be left out, as there.
 */
function missingChunksAreLost({ from, options, place }: TreeSource, { node, isPart }: ItemOptions): ItemIndex["missingChunksAreLost"] {
  const told = isPart === true ? true : options.storeArrayDataEqualToFillValue;
  const mayBeOthers = from === "names" && place.databases === undefined;
  return ({ fillIsNull }) => told ?? (fillIsNull && !mayBeOthers && node === undefined);
}

/** The path of an entry, without what its writer put around the tree. */
function keysOf({ path }: TreeEntry, source: TreeSource, { node, isTree }: ItemOptions): KeyPath {
  if (node !== undefined) return withoutNode(node, path);
  return isTree !== true && isArraySave(source) ? [] : path;
}

/**
 * Whether an item is what Orbax's `ArraySave` makes of one array. A tree like that has a folder, or no file, of the same name as the state file;
 * that it has no database is told by its metadata from Orbax 0.11.31 on, and before by nothing but that there is none.
 */
function isArraySave({ from, entries, place }: TreeSource): boolean {
  const [only] = entries;
  if (entries.length !== 1 || only === undefined || paramName(only.path) !== "checkpoint") return false;
  return from === "names" || (place.databases === undefined && hasArray(only));
}

function withoutNode(node: string, path: KeyPath): KeyPath {
  const [first, ...rest] = path;
  if (first?.key === node && first.kind === "mapping") return rest;
  throw new CorruptCheckpointError({
    path: "_METADATA",
    expected: `every leaf under substrax's node ${JSON.stringify(node)}`,
    received: JSON.stringify(leafPath(path)),
  });
}

function storedLeaf(
  { valueType, path: keys }: TreeEntry,
  path: string,
  array: ZarrArray | undefined,
  text: string | undefined,
  keyImpls: ReadonlyMap<string, string>,
): StoredLeaf {
  if (text !== undefined) return { kind: "string", path, value: text };
  if (array === undefined) return { kind: "empty", path, valueType };
  const kind = valueType === "jax.Array" || valueType === "scalar" ? valueType : "np.ndarray";
  if (kind === "scalar") requireScalar(path, array);
  return { kind, path, array, keyImpl: kind === "jax.Array" ? keyImpls.get(paramName(keys)) : undefined };
}

function requireScalar(path: string, { name, spec }: ZarrArray): void {
  if (spec.shape.length === 0) return;
  throw new CorruptCheckpointError({
    path: `${name}/.zarray`,
    expected: `rank 0, since leaf ${JSON.stringify(path)} is a Python number`,
    received: `shape [${spec.shape.join(", ")}]`,
  });
}

function noTree(path: string): never {
  const file = path === "" ? "_METADATA" : `${path}/_METADATA`;
  throw new CorruptCheckpointError({ path: file, expected: "the item's tree", received: "no such file" });
}
