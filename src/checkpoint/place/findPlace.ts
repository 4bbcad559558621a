import { CheckpointValueError, isCheckpointError, UnsupportedCheckpointError } from "../../errors.js";
import { pathIn } from "../../storage/paths.js";
import type { TaskContext } from "../../tasks/context.js";
import type { OptionalFiles } from "../metadata/optionalFiles.js";
import { type MetadataOfStep, readMetadata, readStepFile } from "../metadata/orbaxMetadata.js";
import { stepFileOf } from "../metadata/stepFile.js";
import type { Explorer, Folder } from "./explorer.js";
import { findItem } from "./findItem.js";
import { findLatestStep, findStep } from "./findStep.js";
import { holdsArrays, itemProbes, nestedProbes } from "./itemKind.js";
import { type Level, levelOf, levelProbes } from "./level.js";
import { isArray, lookBelow } from "./lookBelow.js";
import type { Place, Wanted } from "./place.js";
import { isProcess, isTemporary, type NamedStep, stateFileNames, stepOfName } from "./stepName.js";
import { nothingError, partError, refuseMerged, requireNoChoice, unsupportedError } from "./wrongLevel.js";

/** What places are found with. */
export interface Search {
  readonly wanted: Wanted;
  readonly explorer: Explorer;
  readonly files: OptionalFiles;
  readonly context: TaskContext;
}

/**
 * Finds out what was given, and where the item is that is wanted.
 * @throws CheckpointNotFoundError where there is nothing, or no such step.
 * @throws CheckpointValueError for a wrong level, naming the right one, and where an item has to be chosen.
 * @throws UnsupportedCheckpointError for what is known, and not read.
 */
export async function findPlace(search: Search): Promise<Place> {
  const { wanted, explorer, context } = search;
  if (isTemporary(wanted.name)) throw unfinished(wanted);
  const folder = await explorer.lookTwice("", probesOf(wanted), lessLikely(wanted));
  const level = levelOf(folder, wanted.name);
  switch (level.kind) {
    case "item":
      return itemPlace(search, folder, level);
    case "step":
      return stepPlace(search, folder);
    case "root":
      return rootPlace(search, folder, level);
    case "part":
      throw partError(wanted, level.what);
    case "folders":
      if (wanted.item !== undefined && folder.directories.has(wanted.item)) return stepPlace(search, folder);
      return (await lookBelow(search, folder)) === "step" ? stepPlace(search, folder) : itemPlace(search, folder, treeless);
    case "nothing": {
      const steps = await stateFiles(search, folder);
      if (steps.length > 0) return rootPlace(search, folder, { kind: "root", steps });
      if (wanted.step !== undefined) return rootPlace(search, folder, { kind: "root", steps: [] });
      throw await nothingError(wanted, folder, explorer.whyUnlisted, context);
    }
    default:
      return level satisfies never;
  }
}

/** Arrays in folders that no file describes. */
const treeless: Level & { kind: "item" } = { kind: "item", item: "pytree", isDirect: false };

/** Files of flax whose prefix is the user's own, where the latest begins as a msgpack map does. */
async function stateFiles({ explorer, context: { signal } }: Search, { files }: Folder): Promise<NamedStep[]> {
  const named = stateFileNames(files);
  const latest = named.at(-1);
  if (latest === undefined) return [];
  const [first = 0] = (await explorer.storage.read(latest.name, { range: { offset: 0, length: 1 }, signal }).catch(unlessEmpty)) ?? [];
  return (first >= 0x80 && first <= 0x8f) || first === 0xde || first === 0xdf ? named : [];
}

function unlessEmpty(error: unknown): undefined {
  if (!isCheckpointError(error, "Storage") || error.reason !== "length") throw error;
}

const unfinished = ({ label }: Wanted) =>
  new UnsupportedCheckpointError(`${label} is an unfinished step: its save did not end; give the folder above it, or a step in that`);

/** What is asked for where the place cannot be listed, by what is wanted of it. */
function probesOf({ step, item }: Wanted): string[] {
  const probes =
    item === undefined ? levelProbes : ["_CHECKPOINT_METADATA", "orbax.checkpoint", ...itemProbes.map((file) => `${item}/${file}`)];
  return probes.map((file) => (step === undefined ? file : `${step}/${file}`));
}

/** What is asked for after that, where none of it is there. */
function lessLikely({ step, item }: Wanted): string[] {
  const above = [step, item].filter((name) => name !== undefined);
  return nestedProbes.map((file) => [...above, file].join("/"));
}

async function itemPlace(search: Search, folder: Folder, { item, isDirect }: Level & { kind: "item" }): Promise<Place> {
  const { wanted, context } = search;
  const isProcessOnly = isProcess(wanted.name) && !folder.files.has("_METADATA");
  requireNoChoice(
    wanted,
    isDirect ? "a checkpoint without steps and items" : isProcessOnly ? "the database of a process" : "an item itself",
  );
  if (!holdsArrays(item) && item !== "json") throw unsupportedError(wanted.label, item);
  if (isProcessOnly) await refuseMerged(wanted, context);
  return {
    kind: isProcessOnly ? "process" : item === "array" ? "array" : isDirect ? "direct" : "item",
    step: isDirect ? stepOfName(wanted.name) : undefined,
    stepName: undefined,
    item: { name: isDirect || isProcessOnly || isArray(folder) ? "" : wanted.name, kind: item, folder },
    path: "",
    metadata: await metadataOf(search, { path: "", folder }),
    hasDtypes: false,
  };
}

async function stepPlace(search: Search, folder: Folder): Promise<Place> {
  const { wanted } = search;
  const step = stepOfName(wanted.name);
  if (wanted.step !== undefined && wanted.step !== step) requireNoChoice({ ...wanted, item: undefined }, "a step itself");
  const found = await itemInStep(search, "", folder);
  return { kind: found.isV1 ? "v1" : "step", step, stepName: undefined, ...found.place };
}

async function rootPlace(search: Search, folder: Folder, { steps }: Level & { kind: "root" }): Promise<Place> {
  const { wanted, explorer, files, context } = search;
  const root = { label: wanted.label, folder, steps };
  const named =
    wanted.step === undefined ? await findLatestStep(root, explorer, files) : await findStep(root, wanted.step, explorer, context);
  const place = { kind: "root", step: named.step, stepName: named.name } as const;
  if (folder.files.has(named.name)) {
    if (wanted.item !== undefined) throw noItems(wanted, named.name);
    const metadata = await metadataOf(search, { root: folder });
    return { ...place, item: { name: "", kind: "pytree" }, path: named.name, metadata, hasDtypes: false };
  }
  const inside = await explorer.look(named.name, probesOf({ ...wanted, step: undefined }));
  const level = levelOf(inside, named.name);
  switch (level.kind) {
    case "item":
      return directStep(search, folder, inside, level, place);
    case "root":
      throw new CheckpointValueError(
        `${wanted.label} is above the folders that hold steps: give one of them, such as ${JSON.stringify(named.name)}`,
      );
    case "part":
      throw partError({ ...wanted, label: pathIn(wanted.label, named.name), above: undefined }, level.what);
    case "step":
    case "folders":
    case "nothing": {
      const found = await itemInStep(search, named.name, inside, folder);
      return { ...place, ...found.place };
    }
    default:
      return level satisfies never;
  }
}

/** A step of a root whose folder holds the files of the only item. */
async function directStep(
  search: Search,
  root: Folder,
  inside: Folder,
  { item, isDirect }: Level & { kind: "item" },
  place: Pick<Place, "step"> & { readonly kind: "root"; readonly stepName: string },
): Promise<Place> {
  const { wanted } = search;
  if (!isDirect && isArray(inside)) return itemPlace(search, root, treeless);
  if (wanted.item !== undefined) throw noItems(wanted, place.stepName);
  if (!holdsArrays(item) && item !== "json") throw unsupportedError(pathIn(wanted.label, place.stepName), item);
  const metadata = await metadataOf(search, { path: place.stepName, folder: inside, root });
  return { ...place, item: { name: "", kind: item, folder: inside }, path: place.stepName, metadata, hasDtypes: false };
}

const noItems = ({ label }: Wanted, step: string) =>
  new CheckpointValueError(`${pathIn(label, step)} is a checkpoint without items: leave the option item out`);

/** What all steps with items have in common. */
type InStep = Omit<Place, "kind" | "step" | "stepName">;

async function itemInStep(
  search: Search,
  path: string,
  folder: Folder,
  root?: Folder,
): Promise<{ readonly isV1: boolean; readonly place: InStep }> {
  const { wanted, explorer } = search;
  const metadata = await metadataOf(search, { path, folder, root, hasItems: true });
  const isV1 = folder.files.has("orbax.checkpoint") || Object.values(metadata.itemHandlers).some((handler) => handler.includes(".v1."));
  const item = await findItem({ label: pathIn(wanted.label, path), path, folder, metadata, isV1 }, wanted.item, explorer);
  const hasDtypes = metadata.record !== undefined && (!folder.isListed || folder.directories.has("dtypes"));
  return { isV1, place: { item, path: pathIn(path, item.name), metadata, hasDtypes } };
}

/** A step's folder, and the root that it stands in, where there are such. */
interface Surroundings {
  readonly path?: string;
  readonly folder?: Folder;
  readonly root?: Folder | undefined;
  readonly hasItems?: boolean;
}

async function metadataOf({ files }: Search, { path = "", folder, root, hasItems = false }: Surroundings): Promise<MetadataOfStep> {
  const hasStepFile = folder?.files.has("_CHECKPOINT_METADATA") ?? false;
  const stepFile = hasStepFile ? await readStepFile(files, path) : stepFileOf(null);
  const has = (name: string) => hasItems && (folder?.directories.has(name) === true || Object.hasOwn(stepFile.itemHandlers, name));
  return readMetadata(files, stepFile, {
    folder: path,
    hasMetrics: has("metrics"),
    hasRecord: has("metadata"),
    hasRootMetadata: root?.directories.has("metadata") ?? false,
  });
}
