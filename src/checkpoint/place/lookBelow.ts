import { CheckpointNotFoundError, CheckpointValueError } from "../../errors.js";
import type { Explorer, Folder } from "./explorer.js";
import { nestedProbes } from "./itemKind.js";
import { levelOf, levelProbes } from "./level.js";
import type { Wanted } from "./place.js";

/** Most folders that are looked into to tell what the one above is. */
const mostFolders = 16;

/**
 * What a folder is of whose own files nothing tells: a step from before Orbax 0.5.11, or arrays that no file describes.
 * @throws CheckpointValueError naming the folders in it that hold checkpoints, CheckpointNotFoundError where none does.
 */
export async function lookBelow(
  { wanted, explorer }: { readonly wanted: Wanted; readonly explorer: Explorer },
  { directories }: Folder,
): Promise<"step" | "arrays"> {
  const names = [...directories].sort().slice(0, mostFolders);
  const below = await Promise.all(
    names.map(async (name) => {
      const folder = await explorer.lookTwice(name, levelProbes, nestedProbes);
      return { name, level: levelOf(folder, name), isArray: isArray(folder) };
    }),
  );
  const deeper = below.filter(({ level }) => level.kind === "root" || level.kind === "step");
  const items = below.filter(({ level }) => level.kind === "item");
  if (deeper.length === 0 && items.length > 0 && items.every((item) => item.isArray)) return "arrays";
  // What was saved to a path has the file of a step, which no item of one has.
  if (deeper.length === 0 && items.some(({ level }) => level.kind === "item" && !level.isDirect)) return "step";
  if (deeper.length + items.length > 0)
    throw aboveCheckpoints(
      wanted,
      below.filter((each) => deeper.includes(each) || items.includes(each)),
    );
  throw new CheckpointNotFoundError(wanted.step, wanted.label, {
    advice: `it holds ${quoted(names)}, none of which is a step or an item: check the address`,
  });
}

/** Whether the files of an array stand in a folder, and nothing else's. */
export const isArray = ({ files }: Folder): boolean => !files.has("_METADATA") && (files.has(".zarray") || files.has("zarr.json"));

const aboveCheckpoints = ({ label }: Wanted, folders: readonly { readonly name: string }[]) =>
  new CheckpointValueError(
    `${label} is above the checkpoints: give one of the folders in it that hold some: ${quoted(folders.map(({ name }) => name))}`,
  );

/** Names in quotation marks, as errors list them. */
export const quoted = (names: readonly string[]): string => names.map((name) => JSON.stringify(name)).join(", ");
