import { aBoolean, requireOptions } from "../../arguments.js";
import { CheckpointNotWrittenError, StorageError } from "../../errors.js";
import type { WritableStorage } from "../../storage/storage.js";
import { streamRange } from "../../storage/streamRange.js";
import type { TaskContext } from "../../tasks/context.js";
import { type CheckpointDirectory, directoryName, requireDirectory } from "../directory.js";
import { openDirectory } from "../openDirectory.js";
import { type LeafProgress, RestoreProgress } from "../restore/restoreProgress.js";
import { type StoreState, stepsOf } from "../save/commits.js";
import { type LockOptions, lockRules } from "../save/saveOptions.js";
import type { WritableRoot } from "../save/writableRoot.js";
import { copiedRules, type StepFile, type StepFiles, stepFiles, totalBytes, totalFiles } from "./stepFiles.js";

/** Options of {@link copySteps}. */
export interface CopyStepsOptions extends LockOptions, TaskContext {
  /** Which steps; all of them by default. */
  readonly steps?: readonly number[] | undefined;
  /** Replaces steps that exist; false by default. */
  readonly overwrite?: boolean | undefined;
}

const copyRules = { ...copiedRules, ...lockRules, overwrite: aBoolean };

const loadCommits = async () => ({
  ...(await import("../save/saveStep.js")),
  ...(await import("../save/tidying.js")),
  ...(await import("../save/writeCommit.js")),
});

/**
 * Copies finished steps from one place to another, byte for byte, each as one commit: whatever happens, a step is there whole or not at all.
 * A folder that the user picked is a place, and so is a ZIP. Steps keep their numbers, and may lie below the latest one. `maxToKeep` is no
 * matter here. Memory holds a few pieces of one file. Progress counts files as leaves.
 * @returns the steps that were copied, ascending.
 * @throws CheckpointNotFoundError where a step is not there, or there is none at all; CheckpointNotWrittenError `"exists"`, before anything is
 *   written; StorageError where a place fails, `"read-only"` where it cannot be written, `"quota"` where there is no room.
 */
export async function copySteps(from: CheckpointDirectory, to: CheckpointDirectory, options: CopyStepsOptions = {}): Promise<number[]> {
  requireDirectory(from);
  requireDirectory(to);
  requireOptions("copySteps", options, copyRules);
  const target = requireWritable(to);
  const sources = await stepFiles(openDirectory(from).access, directoryName(from), options.steps, options);
  const progress = new RestoreProgress(totalBytes(sources), totalFiles(sources), options);
  const { asOnlyWriter, stateToWrite, afterwards, tidySoon } = await loadCommits();
  await asOnlyWriter(target, options, async () => {
    const state = await stateToWrite(target, options);
    requireNewSteps(sources, state, options.overwrite ?? false);
    await target.storage.requireRoom?.(totalBytes(sources), options);
    for (const source of sources) await copyStep(source, target.storage, state, progress, options);
    await afterwards(() => tidySoon(target));
  });
  progress.done();
  return sources.map(({ step }) => step);
}

function requireWritable(directory: CheckpointDirectory): WritableRoot {
  const { root } = openDirectory(directory);
  if (root !== undefined) return root;
  const message = `${directoryName(directory)} can only be read; copy to a folder in OPFS, or to a storage with create, write, move and remove`;
  throw new StorageError({ path: "", reason: "read-only", message });
}

function requireNewSteps(sources: readonly StepFiles[], state: StoreState, overwrite: boolean): void {
  const steps = stepsOf(state);
  const existing = sources.find(({ step }) => steps.includes(step));
  if (existing !== undefined && !overwrite) throw new CheckpointNotWrittenError(existing.step, steps.at(-1) ?? null, "exists");
}

async function copyStep(
  source: StepFiles,
  target: WritableStorage,
  state: StoreState,
  progress: RestoreProgress,
  context: TaskContext,
): Promise<void> {
  const { nextCommitFolder, replacedBy, writeMarker, discard } = await loadCommits();
  const { step, files, identity } = source;
  const { folder, number } = nextCommitFolder(step, state);
  const replaces = await replacedBy(target, step, state, context);
  try {
    await source.again(async () => {
      for (const file of files) await copyFile(source, file, target, folder, progress.leaf(`${step}/${file.path}`, file.length), context);
    }, context);
    await writeMarker(target, { step, folder, number, replaces, identity, files: files.map(({ path }) => path) }, context);
  } catch (error) {
    await discard(target, folder).catch(() => undefined);
    throw error;
  }
}

async function copyFile(
  { root, step }: StepFiles,
  { path, length }: StepFile,
  target: WritableStorage,
  folder: string,
  progress: LeafProgress,
  { signal }: TaskContext,
): Promise<void> {
  const writer = await target.create(`${folder}/${path}`, { signal });
  try {
    for await (const piece of streamRange(root, `${step}/${path}`, { offset: 0, length }, { signal })) {
      await writer.write(piece);
      progress.add(piece.length);
    }
    await writer.close();
    progress.finish();
  } catch (error) {
    await writer.abort();
    throw error;
  }
}
