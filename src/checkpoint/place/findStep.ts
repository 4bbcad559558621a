import { CheckpointNotFoundError, CheckpointValueError, UnsupportedCheckpointError } from "../../errors.js";
import type { TaskContext } from "../../tasks/context.js";
import { adviceWhereNotFound } from "../adviceWhereNotFound.js";
import type { OptionalFiles } from "../metadata/optionalFiles.js";
import { readStepFile } from "../metadata/orbaxMetadata.js";
import type { Explorer, Folder } from "./explorer.js";
import { itemNames } from "./itemKind.js";
import { levelProbes } from "./level.js";
import { finalName, isProcess, isTemporary, type NamedStep, stepOfName } from "./stepName.js";

/** A root that was looked into. */
export interface Root {
  /** Names it in errors. */
  readonly label: string;
  readonly folder: Folder;
  readonly steps: readonly NamedStep[];
}

/**
 * The step of a root that was asked for.
 * @throws CheckpointNotFoundError where there is none, UnsupportedCheckpointError where its save did not end, CheckpointValueError where several
 *   folders stand for it.
 */
export async function findStep({ label, folder, steps }: Root, step: number, explorer: Explorer, context: TaskContext): Promise<NamedStep> {
  const found = steps.filter((named) => named.step === step);
  if (found.length > 0) return onlyOne(label, found);
  const unfinished = temporaryNames(folder).filter((name) => stepOfName(finalName(name)) === step);
  if (unfinished.length > 0) {
    const others = steps.length === 0 ? "no other is there" : `the latest that is finished is ${steps.at(-1)?.step}`;
    throw new UnsupportedCheckpointError(
      `step ${step} under ${label} is an unfinished step: its save did not end (${unfinished[0]}); ${others}`,
    );
  }
  const known = folder.isListed ? steps.map((named) => named.step) : undefined;
  const advice = await adviceWhereNotFound(explorer.storage, step, known, context);
  const other = folder.isListed ? "" : "; a step whose folder has another name is opened by the address of that folder";
  throw new CheckpointNotFoundError(step, label, { advice: advice + other });
}

/**
 * The newest step of a root. Every folder that is named like a step is one, as for Orbax on a disk; but where saves begin under their final
 * names, the newest of those in which something is whole is meant.
 * @throws UnsupportedCheckpointError where there are only saves that did not end, CheckpointValueError where several folders stand for the newest.
 */
export async function findLatestStep({ label, folder, steps }: Root, explorer: Explorer, files: OptionalFiles): Promise<NamedStep> {
  const stepOf = ({ step }: NamedStep) =>
    onlyOne(
      label,
      steps.filter((named) => named.step === step),
    );
  for (const named of steps.toReversed()) {
    const isFile = folder.files.has(named.name);
    if (isFile || (await isWhole(named.name, explorer, files))) return stepOf(named);
  }
  const newest = steps.at(-1);
  if (newest !== undefined) return stepOf(newest);
  const names = temporaryNames(folder).slice(0, 10).join(", ");
  throw new UnsupportedCheckpointError(
    `${label} holds only unfinished steps, whose saves did not end: ${names}; wait for one to end, or save again`,
  );
}

/** The folder of a step; of several the one whose name is the number alone. */
function onlyOne(label: string, found: readonly NamedStep[]): NamedStep {
  const named = found.length === 1 ? found[0] : found.find(({ step, name }) => name === String(step));
  if (named !== undefined) return named;
  const names = found.map(({ name }) => JSON.stringify(name)).join(" and ");
  throw new CheckpointValueError(
    `${names} in ${label} both stand for step ${found[0]?.step}; open the one that is meant by its own address`,
  );
}

const temporaryNames = ({ directories }: Folder): string[] => [...directories].filter(isTemporary).sort();

/**
 * Whether anything in a step is whole. On a disk all is, since a step gets its name when its save ended; on object stores, which cannot rename,
 * one of these tells: the marker of a commit, its time, an item with all that a restore needs, or that no item has arrays.
 */
async function isWhole(name: string, explorer: Explorer, files: OptionalFiles): Promise<boolean> {
  const inside = await explorer.look(name, levelProbes);
  const names = itemNames(inside);
  if (names.length === 0 && inside.files.size === 0) return false;
  if (inside.files.has("commit_success.txt") || !inside.files.has("_CHECKPOINT_METADATA")) return true;
  const { initTimestampNsecs, commitTimestampNsecs } = await readStepFile(files, name);
  if (commitTimestampNsecs !== undefined || initTimestampNsecs === undefined) return true;
  if (inside.files.has("manifest.ocdbt") || inside.files.has("checkpoint")) return true;
  const items = await Promise.all(names.slice(0, 20).map((item) => explorer.look(`${name}/${item}`, ["manifest.ocdbt"])));
  return items.some(hasArrays) || (items.length > 0 && items.every(hasNone));
}

/** Whether an item has a database, a state file or arrays in folders of their own; those of processes are parts until they are merged. */
const hasArrays = ({ files, directories }: Folder): boolean =>
  ["manifest.ocdbt", "checkpoint", ".zarray", "zarr.json"].some((file) => files.has(file)) ||
  [...directories].some((name) => !isProcess(name) && !isTemporary(name) && name !== "d" && name !== "array_metadatas");

/** Whether an item is no tree, such as JSON. */
const hasNone = ({ files, directories }: Folder): boolean => files.size > 0 && directories.size === 0 && !files.has("_METADATA");
