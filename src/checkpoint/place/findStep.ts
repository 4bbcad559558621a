import { CheckpointNotFoundError, CheckpointValueError, UnsupportedCheckpointError } from "../../errors.js";
import type { TaskContext } from "../../tasks/context.js";
import { adviceWhereNotFound } from "../adviceWhereNotFound.js";
import type { OptionalFiles } from "../metadata/optionalFiles.js";
import { readStepFile } from "../metadata/orbaxMetadata.js";
import type { Explorer, Folder } from "./explorer.js";
import { itemNames } from "./itemKind.js";
import { levelProbes } from "./level.js";
import { finalName, isTemporary, type NamedStep, stepOfName } from "./stepName.js";

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
 * The newest step of a root whose save ended.
 * @throws UnsupportedCheckpointError where none did, CheckpointValueError where several folders stand for the newest.
 */
export async function findLatestStep({ label, folder, steps }: Root, explorer: Explorer, files: OptionalFiles): Promise<NamedStep> {
  for (const named of steps.toReversed()) {
    const isFile = folder.files.has(named.name);
    if (isFile || (await isFinished(named.name, explorer, files))) {
      return onlyOne(
        label,
        steps.filter(({ step }) => step === named.step),
      );
    }
  }
  const names = [...steps.map(({ name }) => name), ...temporaryNames(folder)].slice(0, 10).join(", ");
  throw new UnsupportedCheckpointError(`${label} holds only unfinished steps, whose saves did not end: ${names}`);
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
 * Whether the save of a step ended. A folder that was renamed when it did tells by its name; where there is no renaming (object stores), one of
 * these does: the marker of a commit, its time, or an item that is complete.
 */
async function isFinished(name: string, explorer: Explorer, files: OptionalFiles): Promise<boolean> {
  const inside = await explorer.look(name, levelProbes);
  const names = itemNames(inside);
  if (names.length === 0 && inside.files.size === 0) return false;
  if (inside.files.has("commit_success.txt") || !inside.files.has("_CHECKPOINT_METADATA")) return true;
  const { initTimestampNsecs, commitTimestampNsecs } = await readStepFile(files, name);
  if (commitTimestampNsecs !== undefined || initTimestampNsecs === undefined) return true;
  if (inside.files.has("manifest.ocdbt") || inside.files.has("checkpoint")) return true;
  const items = await Promise.all(names.slice(0, 20).map((item) => explorer.look(`${name}/${item}`, ["manifest.ocdbt"])));
  return items.some((item) => item.files.has("manifest.ocdbt"));
}
