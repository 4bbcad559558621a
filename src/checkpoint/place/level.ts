import type { Folder } from "./explorer.js";
import { holdsArrays, type ItemKind, itemKindOf } from "./itemKind.js";
import { isTemporary, type NamedStep, namedSteps } from "./stepName.js";

/** What a folder is among root, step and item. */
export type Level =
  /** The files of an item stand in it; with a step's own beside them it is a checkpoint without items. */
  | { readonly kind: "item"; readonly item: ItemKind; readonly isDirect: boolean }
  /** Its folders are items. */
  | { readonly kind: "step"; readonly isMarked: boolean }
  /** Its folders are steps. */
  | { readonly kind: "root"; readonly steps: readonly NamedStep[] }
  /** A part of an item or of a step. */
  | { readonly kind: "part"; readonly what: string }
  /** It has folders whose names tell nothing. */
  | { readonly kind: "folders" }
  | { readonly kind: "nothing" };

/** Files that are asked for to tell what a place is that cannot be listed. */
export const levelProbes: readonly string[] = [
  "_METADATA",
  "_CHECKPOINT_METADATA",
  "manifest.ocdbt",
  "orbax.checkpoint",
  "checkpoint",
  ".zarray",
  "zarr.json",
  "default/_METADATA",
];

/**
 * Tells what a folder is by the names in it.
 * @param name of the folder, where it is known.
 */
export function levelOf(folder: Folder, name: string): Level {
  const { files, directories } = folder;
  const isStep = files.has("_CHECKPOINT_METADATA") || files.has("orbax.checkpoint");
  const item = itemKindOf(folder, name);
  const isItem = holdsArrays(item) || item === "group" || (directories.size === 0 && item !== "empty" && item !== "unknown");
  if (isItem) return { kind: "item", item, isDirect: isStep };
  if (isStep) return { kind: "step", isMarked: files.has("orbax.checkpoint") };
  const part = partOf(folder);
  if (part !== undefined) return { kind: "part", what: part };
  const steps = namedSteps(folder);
  if (steps.length > 0 || [...directories].some(isTemporary)) return { kind: "root", steps };
  return directories.size > 0 ? { kind: "folders" } : { kind: "nothing" };
}

const parts: readonly (readonly [RegExp, string])[] = [
  [/^[0-9a-f]{32}$/, "the data files of a database"],
  [/^process_\w+$/, "the folder array_metadatas of an item"],
];

function partOf({ files, directories }: Folder): string | undefined {
  if (directories.size > 0 || files.size === 0) return undefined;
  return parts.find(([pattern]) => [...files].every((file) => pattern.test(file)))?.[1];
}
