import { aFunction, aSignal, shown } from "../../arguments.js";
import { CheckpointNotFoundError } from "../../errors.js";
import { fileLength } from "../../storage/fileLength.js";
import type { ReadableStorage } from "../../storage/storage.js";
import type { TaskContext } from "../../tasks/context.js";
import type { ReadAgain } from "../readAgain.js";
import { filesBelow, readIdentity } from "../save/commits.js";
import type { StepAccess } from "../stepAccess.js";
import { requireStep } from "../steps.js";

/** Of options that say which steps. */
export const copiedRules = {
  steps: {
    expected: "a list of at least one step; left out: all of them",
    accepts: (value: unknown) => Array.isArray(value) && value.length > 0,
    shown,
  },
  signal: aSignal,
  onProgress: aFunction,
};

/** A step to copy: what it consists of, and how to read it. */
export interface StepFiles {
  readonly step: number;
  /** The root that it is read from; in it the step stands in the folder of its number. */
  readonly root: ReadableStorage;
  /** In the order of their paths, which are from the step's folder. */
  readonly files: readonly StepFile[];
  /** The text of its `_CHECKPOINT_METADATA`; `""` where there is none. */
  readonly identity: string;
  /** Reads on, as long as it is the same save. */
  readonly again: ReadAgain;
}

/** A file of a step. */
export interface StepFile {
  readonly path: string;
  /** In bytes. */
  readonly length: number;
}

/**
 * Finds the files of finished steps; `wanted` left out: of all, ascending.
 * @throws CheckpointNotFoundError for a step that is not there, and where there is none; StorageError where the place fails or cannot list.
 */
export async function stepFiles(
  access: StepAccess,
  directory: string,
  wanted: readonly number[] | undefined,
  context: TaskContext,
): Promise<StepFiles[]> {
  for (const step of wanted ?? []) requireStep(step, directory);
  const there = await access.listSteps(context);
  const steps = wanted === undefined ? there : [...new Set(wanted)].sort((a, b) => a - b);
  const absent = steps.find((step) => !there.includes(step));
  if (absent !== undefined) throw new CheckpointNotFoundError(absent, directory);
  if (steps.length === 0) throw noSteps(directory);
  const found: StepFiles[] = [];
  for (const step of steps) {
    const { value, again } = await access.open(step, (root) => filesOf(root, step, context), context);
    found.push({ step, again, ...value });
  }
  return found;
}

const noSteps = (directory: string): CheckpointNotFoundError =>
  new CheckpointNotFoundError(undefined, directory, {
    advice: "it holds no steps: a step is a folder that a number names; give the folder, or the ZIP, that holds such folders",
  });

async function filesOf(root: ReadableStorage, step: number, context: TaskContext): Promise<Pick<StepFiles, "root" | "files" | "identity">> {
  const files: StepFile[] = [];
  for (const path of [...(await filesBelow(root, String(step), context))].sort()) {
    const length = await fileLength(root, `${step}/${path}`, context);
    if (length !== undefined) files.push({ path, length });
  }
  return { root, files, identity: await readIdentity(root, String(step), context) };
}

/** Bytes of all files of all steps. */
export const totalBytes = (steps: readonly StepFiles[]): number =>
  steps.reduce((sum, { files }) => files.reduce((below, { length }) => below + length, sum), 0);

/** How many files there are. */
export const totalFiles = (steps: readonly StepFiles[]): number => steps.reduce((sum, { files }) => sum + files.length, 0);
