import { kindOf, shown } from "../arguments.js";
import {
  CheckpointNotFoundError,
  CheckpointValueError,
  CorruptCheckpointError,
  StorageError,
  UnsupportedCheckpointError,
} from "../errors.js";
import { hasFile } from "../storage/hasFile.js";
import type { ReadableStorage } from "../storage/storage.js";
import type { TaskContext } from "../tasks/context.js";
import { adviceWhereNotFound } from "./adviceWhereNotFound.js";
import type { CheckpointMetadata } from "./record/record.js";

/** The step that a folder's name stands for: a decimal number without leading zeros up to 2^53 − 1; undefined for any other name. */
export function stepOfFolder(name: string): number | undefined {
  const step = /^(?:0|[1-9][0-9]*)$/.test(name) ? Number(name) : Number.NaN;
  return Number.isSafeInteger(step) ? step : undefined;
}

/** All steps in the root, ascending; unfinished saves and foreign names are left out. */
export async function listStepFolders(root: ReadableStorage, { signal }: TaskContext): Promise<number[]> {
  const { directories } = await root.list("", { signal });
  return directories
    .map(stepOfFolder)
    .filter((step) => step !== undefined)
    .sort((a, b) => a - b);
}

/**
 * Checks that a step could exist.
 * @throws CheckpointNotFoundError for a negative step, a text, null and undefined, as where there is no such step; CheckpointValueError for what else
 * is none.
 */
export function requireStep(step: unknown, directory: string): asserts step is number {
  if (typeof step === "string" || step === null || step === undefined)
    throw new CheckpointNotFoundError(step as never, directory, {
      advice: `a step is a number, not ${kindOf(step)}${step === null ? ", which latestStep() gives where there is no step" : ""}`,
    });
  if (typeof step !== "number" || !Number.isSafeInteger(step))
    throw new CheckpointValueError(`a step is a non-negative integer up to 2^53 - 1, not ${shown(step)}`);
  if (step < 0) throw new CheckpointNotFoundError(step, directory, { advice: "a step is not negative" });
}

/** The error of a step whose record was not found: there is no such step, or something else wrote it. */
export async function missingRecordError(root: ReadableStorage, step: number, directory: string, context: TaskContext): Promise<Error> {
  const steps = await unlessUnlisted(listStepFolders(root, context));
  const inside = await entriesOfStep(root, step, steps, context);
  if (inside === undefined) {
    return new CheckpointNotFoundError(step, directory, { advice: await adviceWhereNotFound(root, step, steps, context) });
  }
  if (inside.includes("metadata")) {
    return new CorruptCheckpointError({ path: `${step}/metadata/metadata`, expected: "the step's record", received: "no such file" });
  }
  return new UnsupportedCheckpointError(
    `step ${step} under ${directory} has no substrax record (item "metadata"): it was not written by substrax or orbax-webgpu; save it with one of them`,
  );
}

/** Undefined where the place cannot list. */
async function unlessUnlisted<Value>(listing: Promise<Value>): Promise<Value | undefined> {
  try {
    return await listing;
  } catch (error) {
    if (error instanceof StorageError && error.reason === "cannot-list") return undefined;
    throw error;
  }
}

// What steps and items of other writers hold, for places that cannot list.
const foreignFiles = ["_CHECKPOINT_METADATA", "_METADATA", "manifest.ocdbt", "default/_METADATA", "checkpoint"];

/** Names in a step's folder; undefined where there is no such folder. */
async function entriesOfStep(
  root: ReadableStorage,
  step: number,
  steps: readonly number[] | undefined,
  { signal }: TaskContext,
): Promise<readonly string[] | undefined> {
  if (steps?.includes(step) === false) return undefined;
  const listing = steps && (await unlessUnlisted(root.list(`${step}/`, { signal })));
  if (listing !== undefined) return [...listing.directories, ...listing.files];
  const found = await Promise.all(foreignFiles.map(async (file) => ((await hasFile(root, `${step}/${file}`, { signal })) ? [file] : [])));
  return found.flat().length === 0 ? undefined : found.flat();
}

/** The step whose metric is best, the lowest of equals; NaN never is. Null where no step has the metric. */
export function bestOf(records: ReadonlyMap<number, CheckpointMetadata>, metric: string, mode: "min" | "max"): number | null {
  const sign = mode === "min" ? 1 : -1;
  let best: { readonly step: number; readonly score: number } | undefined;
  for (const [step, { metrics }] of [...records].sort(([a], [b]) => a - b)) {
    const value = Object.hasOwn(metrics, metric) ? metrics[metric] : undefined;
    if (value === undefined || Number.isNaN(value)) continue;
    if (best === undefined || sign * value < best.score) best = { step, score: sign * value };
  }
  return best?.step ?? null;
}
