import { CheckpointNotFoundError, CheckpointNotWrittenError, isCheckpointError, StorageError } from "../../errors.js";
import type { WritableStorage } from "../../storage/storage.js";
import { subfolder } from "../../storage/subfolder.js";
import type { TaskContext } from "../../tasks/context.js";
import { formatName, formatVersion } from "../record/format.js";
import { formatCreatedAt } from "../record/formatRecord.js";
import type { CheckpointMetadata } from "../record/record.js";
import { RestoreProgress } from "../restore/restoreProgress.js";
import { type Commit, isUntidy, readState, type StoreState, stepsOf } from "./commits.js";
import type { SavePlan } from "./planSave.js";
import type { LockOptions, SaveOptions } from "./saveOptions.js";
import { discard, tidyAsWriter, tidySoon } from "./tidying.js";
import { version } from "./version.js";
import { type WritableRoot, writersLock } from "./writableRoot.js";
import { nextCommitFolder, replacedBy, writeMarker } from "./writeCommit.js";
import { nanosecondsNow, writeStep } from "./writeStep.js";

/** What a store adds to a save. */
export interface SavePolicy {
  readonly maxToKeep: number | null;
  /** Most bytes read from devices and not yet written. */
  readonly concurrentBytes: number;
}

/** One save, whose arguments are checked. */
export interface Save {
  readonly step: number;
  readonly plan: SavePlan;
  readonly options: SaveOptions;
  readonly policy: SavePolicy;
  /** To be called when the last byte of the arrays was read. */
  readonly taken: () => void;
}

const mebibyte = 1024 * 1024;

/**
 * Saves a step: writes it aside, commits it, removes steps too many, and tidies where nobody reads.
 * @throws CheckpointNotWrittenError where the step exists, lies below the latest, or the place refuses it; DeviceError where a device fails;
 *   the signal's reason on abort. What was there before is unchanged then.
 */
export async function saveStep(root: WritableRoot, save: Save): Promise<void> {
  const { step, options, policy } = save;
  try {
    await asOnlyWriter(root, options, async () => {
      await commitStep(root, save);
      await afterwards(async () => {
        await prune(root.storage, step, policy.maxToKeep);
        await tidySoon(root);
      });
    });
  } catch (error) {
    if (!isCheckpointError(error, "Storage")) throw error;
    throw new CheckpointNotWrittenError(step, await latestStep(root), "rejected", { cause: error });
  }
}

/** The step is committed: what fails from now on is done by a later call. */
export async function afterwards(work: () => Promise<void>): Promise<void> {
  await work().catch(() => undefined);
}

async function latestStep({ storage }: WritableRoot): Promise<number | null> {
  const state = await readState(storage, {}).catch(() => undefined);
  return (state && stepsOf(state).at(-1)) ?? null;
}

/** Runs work while nobody else writes. @throws StorageError `"busy"` where somebody does and it was asked not to wait. */
export async function asOnlyWriter<Value>(
  root: WritableRoot,
  { ifLocked, signal }: LockOptions,
  work: () => Promise<Value>,
): Promise<Value> {
  const held = await root.locks.hold(writersLock, { mode: "exclusive", wait: ifLocked !== "fail", signal }, work);
  if (held !== undefined) return held.value;
  const message = `${root.name}: another tab, worker or program is writing into the directory; wait for it, or use ifLocked: "wait"`;
  throw new StorageError({ path: "", reason: "busy", message });
}

async function commitStep(root: WritableRoot, { step, plan, options, policy, taken }: Save): Promise<void> {
  const { storage } = root;
  const context: TaskContext = { signal: options.signal, onProgress: options.onProgress };
  const startTimeNsecs = nanosecondsNow();
  const state = await stateToWrite(root, context);
  requireNewStep(step, state, options.overwrite ?? false);
  await storage.requireRoom?.(plan.totalBytes, context);
  const { folder, number } = nextCommitFolder(step, state);
  const replaces = await replacedBy(storage, step, state, context);
  const progress = new RestoreProgress(plan.totalBytes, plan.totalLeaves, context);
  const isCompressed = options.compression === "zstd";
  // Two pieces stand in staging buffers, one is on its way into a file, and one may have been copied to change its elements. Two that are being
  // compressed stand in memory, and what comes of them.
  const longestPiece = Math.floor(Math.min(16 * mebibyte, policy.concurrentBytes / (isCompressed ? 8 : 4)) / 4) * 4;
  const writing = {
    compression: options.compression ?? "none",
    longestChunk: isCompressed ? longestPiece : 16 * mebibyte,
    longestPiece,
    progress: (array: SavePlan["items"][number]["arrays"][number]) => progress.leaf(array.label, array.leaf.byteLength),
  };
  const record = recordOf(step, plan, options);
  try {
    const toWrite = { plan, record, startTimeNsecs, path: `${root.name}/${step}` };
    const written = await writeStep(subfolder(storage, folder), toWrite, writing, taken, context);
    await writeMarker(storage, { step, folder, number, replaces, ...written }, context);
  } catch (error) {
    await discard(storage, folder).catch(() => undefined);
    throw error;
  }
  progress.done();
}

/** What is there, after what earlier saves left behind was removed. */
export async function stateToWrite(root: WritableRoot, context: TaskContext): Promise<StoreState> {
  const state = await readState(root.storage, context);
  if (!isUntidy(state)) return state;
  await tidyAsWriter(root);
  return readState(root.storage, context);
}

function requireNewStep(step: number, state: StoreState, overwrite: boolean): void {
  const steps = stepsOf(state);
  const latest = steps.at(-1) ?? null;
  if (steps.includes(step)) {
    if (!overwrite) throw new CheckpointNotWrittenError(step, latest, "exists");
  } else if (latest !== null && step < latest) {
    throw new CheckpointNotWrittenError(step, latest, "below_latest");
  }
  if (state.files.includes(String(step)))
    throw new StorageError({
      path: String(step),
      reason: "io",
      message: "a file of that name stands where the step's folder belongs; remove it",
    });
}

const recordOf = (step: number, plan: SavePlan, { epoch, producer, metrics, extra }: SaveOptions): CheckpointMetadata => ({
  format: formatName,
  formatVersion,
  step,
  epoch: epoch ?? null,
  items: plan.items.map(({ name }) => name),
  libraries: { "orbax-webgpu": version },
  producer: producer ?? null,
  metrics: metrics ?? {},
  extra: extra ?? {},
  createdAt: formatCreatedAt(new Date()),
});

/** Removes steps too many: the newest by number stay, and the one that was just written. */
async function prune(storage: WritableStorage, written: number, maxToKeep: number | null): Promise<void> {
  if (maxToKeep === null) return;
  const state = await readState(storage, {});
  const steps = stepsOf(state);
  const surplus = steps.slice(0, Math.max(0, steps.length - maxToKeep)).filter((step) => step !== written);
  for (const step of surplus) await commitRemoval(storage, step, state);
}

/** From its marker on, the step is gone. */
async function commitRemoval(storage: WritableStorage, step: number, state: StoreState): Promise<void> {
  const { folder, number } = nextCommitFolder(step, state);
  const commit: Commit = { step, folder, number, identity: "", replaces: await replacedBy(storage, step, state, {}), files: undefined };
  try {
    await writeMarker(storage, commit, {});
  } catch (error) {
    await discard(storage, folder).catch(() => undefined);
    throw error;
  }
}

/**
 * Deletes a step.
 * @throws CheckpointNotFoundError where there is none, StorageError where the place fails; the step is as it was then.
 */
export async function deleteStep(root: WritableRoot, step: number, options: LockOptions): Promise<void> {
  const { signal } = options;
  requirePresent(root, step, await readState(root.storage, { signal }));
  await asOnlyWriter(root, options, async () => {
    const state = await stateToWrite(root, { signal });
    requirePresent(root, step, state);
    signal?.throwIfAborted();
    await commitRemoval(root.storage, step, state);
    await afterwards(() => tidySoon(root));
  });
}

function requirePresent({ name }: WritableRoot, step: number, state: StoreState): void {
  if (!stepsOf(state).includes(step)) throw new CheckpointNotFoundError(step, name);
}
