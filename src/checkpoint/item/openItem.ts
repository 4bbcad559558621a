import type { JsonValue } from "../../bytes/json.js";
import { CorruptCheckpointError, UnsupportedCheckpointError } from "../../errors.js";
import { type KeyPath, leafPath } from "../../pytree/keyPath.js";
import { leavesOf, TreeBuilder } from "../../pytree/tree.js";
import type { TreeEntry } from "../../pytree/treeMetadata.js";
import type { LocatedStorage } from "../../storage/located.js";
import type { ReadableStorage } from "../../storage/storage.js";
import { subfolder } from "../../storage/subfolder.js";
import type { TaskContext } from "../../tasks/context.js";
import type { Pace } from "../../tasks/pace.js";
import type { ZarrArray } from "../../zarr/openArray.js";
import { withFolder } from "./errorPaths.js";
import { type ItemArrays, openItemArrays } from "./itemArrays.js";
import type { ItemLayout } from "./layout.js";
import type { StoredLeaf, StoredTree } from "./leaves.js";
import { readKeyImpls, readStrings } from "./sideFiles.js";
import { readTreeSource, type TreeSource } from "./treeSource.js";

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
  /** Whether a chunk that is not there was lost; otherwise it holds the fill value. */
  readonly missingChunksAreLost: boolean;
  /** What the writer gave as the item's own metadata. */
  readonly customMetadata: JsonValue | undefined;
  /** Orbax's rich types, as `richTypes.ts` reads them. */
  readonly valueMetadataTree: string | undefined;
}

/** How {@link openItem} opens. */
export interface ItemOptions {
  /** The only node of the item's root, which its writer put there and which is left out: substrax's `"tree"`. */
  readonly node?: "tree" | undefined;
  /** Version of the item's database; the newest unless given. */
  readonly generation?: bigint | undefined;
}

/**
 * Opens a pytree item: reads its tree, the index of its arrays, the metadata of each, and the side files that its leaves need.
 * @param path the item's folder, from the storage's root.
 * @throws CorruptCheckpointError naming the file that is missing or damaged.
 * @throws CheckpointValueError for a generation that is not there.
 */
export const openItem = (
  name: string,
  root: ReadableStorage,
  path: string,
  options: ItemOptions,
  pace: Pace,
  context: TaskContext,
): Promise<ItemIndex> => withFolder(path, readIndex(name, path, subfolder(root, path), options, pace, context));

async function readIndex(
  name: string,
  path: string,
  folder: ReadableStorage,
  { node, generation }: ItemOptions,
  pace: Pace,
  context: TaskContext,
): Promise<ItemIndex> {
  const source = await readTreeSource(folder, { generation, allowNames: node === undefined }, pace, context);
  const [arrays, strings] = await Promise.all([
    openItemArrays(folder, source, pace, context),
    readStrings(folder, source.entries, pace, context),
  ]);
  const keyImpls = await readKeyImpls(folder, arrays.opened, pace, context);
  const builder = new TreeBuilder<StoredLeaf>(source.file);
  for (const entry of source.entries) {
    if (pace.dueForSmallStep) await pace.rest();
    const keys = node === undefined ? entry.path : withoutNode(node, entry.path);
    builder.add(keys, storedLeaf(entry, leafPath(keys), arrays.opened.get(entry), strings, keyImpls));
  }
  const tree = builder.finish();
  if (pace.due) await pace.rest();
  return {
    name,
    folder: path,
    layout: layoutOf(source, arrays),
    tree,
    leaves: leavesOf(tree),
    arrays: arrays.storage,
    missingChunksAreLost: source.options.storeArrayDataEqualToFillValue === true,
    customMetadata: source.options.customMetadata,
    valueMetadataTree: source.options.valueMetadataTree,
  };
}

function layoutOf({ from }: TreeSource, { opened, databases }: ItemArrays): ItemLayout {
  const zarr = new Set(Array.from(opened.values(), ({ version }) => version));
  const place = databases === undefined ? "directories" : "ocdbt";
  return { tree: from, arrays: opened.size === 0 ? [] : [place], databases, zarr: [...zarr].sort() };
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
  entry: TreeEntry,
  path: string,
  array: ZarrArray | undefined,
  strings: ReadonlyMap<TreeEntry, string>,
  keyImpls: ReadonlyMap<string, string>,
): StoredLeaf {
  const { valueType } = entry;
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
