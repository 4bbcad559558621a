import { CheckpointValueError, UnsupportedCheckpointError } from "../../errors.js";
import { pathIn } from "../../storage/paths.js";
import type { OrbaxMetadata } from "../metadata/orbaxMetadata.js";
import type { Explorer, Folder } from "./explorer.js";
import { holdsArrays, type ItemKind, itemKindOf, itemKinds, itemNames, itemProbes, kindOfHandler, nestedProbes } from "./itemKind.js";
import { isTemporary } from "./stepName.js";

/** An item of a step. */
export interface FoundItem {
  readonly name: string;
  readonly kind: ItemKind;
  /** What stands in its folder, where that was looked at. */
  readonly folder?: Folder | undefined;
}

/** A step that was looked into. */
export interface Step {
  /** Names it in errors. */
  readonly label: string;
  /** Its folder, from the opened place; `""` for the place itself. */
  readonly path: string;
  readonly folder: Folder;
  readonly metadata: Pick<OrbaxMetadata, "itemHandlers" | "record">;
  readonly isV1: boolean;
}

/** Most items of a step that are looked into. */
const mostItems = 200;

/** Items that Orbax makes where no name is given: of a manager, and of its API v1 in that order. */
const unnamedItems = { v0: ["default"], v1: ["state", "pytree"] } as const;

/**
 * The item of a step that was asked for, else the one that Orbax takes: the only tree of arrays, or the one that has the name of an unnamed item.
 * @throws CheckpointValueError that lists the items where there is no such, or several.
 * @throws UnsupportedCheckpointError for one of a kind that is not read.
 */
export async function findItem(step: Step, item: string | undefined, explorer: Explorer): Promise<FoundItem> {
  const names = namesOf(step);
  const unnamed = unnamedItems[step.isV1 ? "v1" : "v0"].find((name) => names.includes(name));
  const wanted = item ?? unnamed;
  if (wanted !== undefined && (names.includes(wanted) || (item !== undefined && !step.folder.isListed))) {
    const found = await lookAt(step, wanted, explorer);
    if (!step.folder.isListed && (found.kind === "empty" || found.kind === "unknown"))
      throw await noSuchItem(step, wanted, names, explorer);
    return requireKnown(step, found);
  }
  if (wanted !== undefined) throw await noSuchItem(step, wanted, names, explorer);
  const guessed = names.length === 0 && !step.folder.isListed ? await guess(step, explorer) : names;
  return requireKnown(step, onlyOne(step, await lookAtAll(step, guessed, explorer)));
}

/** Names of items; of a place that cannot list, those that the metadata tell, and the unnamed one where it was seen. */
function namesOf({ folder, metadata }: Step): string[] {
  if (folder.isListed) return itemNames(folder);
  const told = [...Object.keys(metadata.itemHandlers), ...(metadata.record?.items ?? [])].filter(isFolderName);
  return [...new Set([...itemNames(folder), ...told])].sort();
}

const isFolderName = (name: string): boolean => !["", ".", ".."].includes(name) && !/[/\\\0]/.test(name);

/** Where the place cannot list, what the metadata tell is not looked at. */
async function lookAt(step: Step, name: string, explorer: Explorer): Promise<FoundItem> {
  const handler = Object.hasOwn(step.metadata.itemHandlers, name) ? step.metadata.itemHandlers[name] : undefined;
  const told = step.folder.isListed ? undefined : kindOfHandler(handler);
  if (told !== undefined) return { name, kind: told };
  const likely = [...itemProbes, ...(name === "metrics" ? ["metrics"] : [])];
  const folder = await explorer.lookTwice(pathIn(step.path, name), likely, nestedProbes);
  return { name, folder, kind: itemKindOf(folder, name, handler) };
}

const lookAtAll = (step: Step, names: readonly string[], explorer: Explorer): Promise<FoundItem[]> =>
  Promise.all(names.slice(0, mostItems).map((name) => lookAt(step, name, explorer)));

/** Asks for the items that steps of old versions most often have, where nothing tells their names. */
async function guess(step: Step, explorer: Explorer): Promise<string[]> {
  const likely = ["default", "state", "params"].flatMap((name) => [`${name}/manifest.ocdbt`, `${name}/checkpoint`]);
  return itemNames(await explorer.look(step.path, [...likely, "state/_METADATA", "params/_METADATA"]));
}

function onlyOne(step: Step, items: readonly FoundItem[]): FoundItem {
  const trees = items.filter(({ kind }) => holdsArrays(kind));
  const [first] = step.isV1 ? trees.filter(({ kind }) => kind === "pytree") : [];
  if (first !== undefined) return first;
  const others = items.filter(({ kind }) => kind !== "empty");
  const [only, another] = trees.length > 0 ? trees : others;
  if (only === undefined) throw noItem(step);
  if (another === undefined) return only;
  throw new CheckpointValueError(`${step.label} holds several items: ${describe(items)}; name one with the option item`);
}

function noItem({ label, folder: { isListed, directories } }: Step): Error {
  const unfinished = [...directories].filter(isTemporary);
  if (unfinished.length > 0) {
    return new UnsupportedCheckpointError(
      `${label} is an unfinished step: the saves of its items did not end (${unfinished.slice(0, 10).join(", ")}); give another step`,
    );
  }
  const what = isListed ? ": check the address" : " that can be found without a listing: name it with the option item";
  return new CheckpointValueError(`${label} holds no item${what}`);
}

/** @throws UnsupportedCheckpointError for an item of a kind that is not read. */
function requireKnown({ label }: Step, item: FoundItem): FoundItem {
  if (holdsArrays(item.kind) || item.kind === "json") return item;
  throw new UnsupportedCheckpointError(
    `item ${JSON.stringify(item.name)} of ${label} is ${itemKinds[item.kind]}, which is not read: open it with what wrote it, and save it with Orbax as a tree of arrays`,
  );
}

async function noSuchItem(step: Step, item: string, names: readonly string[], explorer: Explorer): Promise<CheckpointValueError> {
  const items = await lookAtAll(
    step,
    names.filter((name) => name !== item),
    explorer,
  );
  const there = items.length === 0 ? "" : `; it holds ${describe(items)}`;
  return new CheckpointValueError(`${step.label} has no item ${JSON.stringify(item)}${there}`);
}

const describe = (items: readonly FoundItem[]): string =>
  items.map(({ name, kind }) => `${JSON.stringify(name)} (${itemKinds[kind]})`).join(", ");
