import type { Folder } from "./explorer.js";
import { isProcess, isTemporary } from "./stepName.js";

/** What an item is, in words for those who have to choose one. */
export const itemKinds = {
  pytree: "a tree of arrays",
  array: "an array",
  key: "a random key",
  json: "JSON",
  proto: "a protobuf message",
  pickled: "a pickled item",
  safetensors: "safetensors, not Orbax",
  group: "a plain zarr group",
  empty: "an empty folder",
  unknown: "of an unknown kind",
} as const;

/** What an item is. */
export type ItemKind = keyof typeof itemKinds;

const arrayKinds: ReadonlySet<ItemKind> = new Set(["pytree", "array", "key"]);

/** Whether an item is restored as a tree. */
export const holdsArrays = (kind: ItemKind): boolean => arrayKinds.has(kind);

/** Files that are asked for to tell what an item is, where it cannot be listed. */
export const itemProbes: readonly string[] = ["_METADATA", "manifest.ocdbt", "checkpoint", ".zarray", "zarr.json", "metadata", "data.json"];

/** Files in folders of single arrays and random keys, that are asked for where no other is there. */
export const nestedProbes: readonly string[] = [
  "checkpoint/.zarray",
  "checkpoint/zarr.json",
  "jax_random_key_metadata/metadata",
  "np_random_key_metadata/metadata",
];

/** Kinds by the last part of the Python class that wrote an item. */
const handlerKinds: readonly (readonly [RegExp, ItemKind])[] = [
  [/(PyTree|Standard)\w*Handler$/, "pytree"],
  [/Array\w*Handler$/, "array"],
  [/RandomKey\w*Handler$/, "key"],
  [/(Json|Metrics)\w*Handler$/, "json"],
  [/Proto\w*Handler$/, "proto"],
];

/** What the Python class says that wrote an item. */
export const kindOfHandler = (handler: string | undefined): ItemKind | undefined =>
  handler === undefined ? undefined : handlerKinds.find(([pattern]) => pattern.test(handler))?.[1];

/** Names in an item's folder that tell nothing of its kind. */
const commonFiles: ReadonlySet<string> = new Set(["commit_success.txt", "_CHECKPOINT_METADATA", "orbax.checkpoint", "_sharding"]);

/**
 * What an item is by what stands in its folder, else by the class that wrote it; of single arrays and plain groups both only look like one.
 * @param name of the item: that of metrics has a file of the same name.
 */
export function itemKindOf(folder: Folder, name: string, handler?: string): ItemKind {
  const { files, directories, hasCheckpointItem = false } = folder;
  if (files.has("_METADATA") || files.has("checkpoint") || files.has("manifest.ocdbt") || some(directories, isProcess)) return "pytree";
  if (files.has(".zgroup")) return "group";
  if (files.has(".zarray") || files.has("zarr.json") || (directories.has("checkpoint") && !hasCheckpointItem)) return "array";
  if (some(directories, (directory) => /^(jax|np)_random_key(_metadata)?$/.test(directory))) return "key";
  const told = kindOfHandler(handler);
  if (told !== undefined) return told;
  return kindOfFiles(
    [...files].filter((file) => !commonFiles.has(file)),
    directories,
    name,
  );
}

const foreignFiles: readonly (readonly [RegExp, ItemKind])[] = [
  [/\.safetensors$/, "safetensors"],
  [/\.(pkl|pickle|cloudpickle|pt|pth)$/, "pickled"],
  [/\.(textproto|pbtxt|pb)$/, "proto"],
];

function kindOfFiles(files: readonly string[], directories: ReadonlySet<string>, name: string): ItemKind {
  const foreign = foreignFiles.find(([pattern]) => files.some((file) => pattern.test(file)));
  if (foreign !== undefined) return foreign[1];
  if (directories.size > 0) return "unknown";
  if (files.length === 0) return "empty";
  return jsonFiles(name).some((file) => files.includes(file)) ? "json" : "unknown";
}

/** Names that the file of a JSON item may have, in Orbax's order. */
export const jsonFiles = (item: string): readonly string[] => [...(item === "metrics" ? [item] : []), "data.json", "metadata"];

/** What `folder` looks like once it is known that it is a step: names of items, without what is no item. */
export const itemNames = ({ directories }: Folder): string[] => [...directories].filter((name) => !isTemporary(name)).sort();

const some = (names: ReadonlySet<string>, test: (name: string) => boolean): boolean => [...names].some(test);
