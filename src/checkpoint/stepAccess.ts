import { CheckpointNotFoundError } from "../errors.js";
import type { ReadableStorage } from "../storage/storage.js";
import type { TaskContext } from "../tasks/context.js";
import { type ReadAgain, readFreely } from "./readAgain.js";
import { isUntidy, stepsOf } from "./save/commits.js";
import { type RootView, rootView } from "./save/rootView.js";
import { readersLock, type WritableRoot } from "./save/writableRoot.js";
import { listStepFolders } from "./steps.js";

/** How steps are read while others may save, replace and delete them. */
export interface StepAccess {
  /** All steps, ascending. */
  listSteps(context: TaskContext): Promise<number[]>;
  /** Runs work that reads from the root, in which every step stands in the folder of its number; undefined: of no step in particular. */
  read<Value>(step: number | undefined, work: (root: ReadableStorage) => Promise<Value>, context: TaskContext): Promise<Value>;
  /** As `read`, and lets the step be read again later, as long as it is the same save. */
  open<Value>(step: number, work: (root: ReadableStorage) => Promise<Value>, context: TaskContext): Promise<Opened<Value>>;
}

/** What was made of a step's index. */
export interface Opened<Value> {
  readonly value: Value;
  readonly again: ReadAgain;
}

/** Access to a place that cannot be changed from here; what others change there is seen by the next reading. */
export const plainAccess = (root: ReadableStorage): StepAccess => ({
  listSteps: (context) => listStepFolders(root, context),
  read: (_, work) => work(root.snapshot?.() ?? root),
  open: async (_, work) => ({ value: await work(root), again: readFreely }),
});

/** How often an opening begins anew because a program without our locks changed the step meanwhile. */
const mostTries = 5;

/** Access to a place where steps come and go: reads share a lock that whoever moves files takes alone, and look twice. */
export function lockedAccess(root: WritableRoot): StepAccess {
  let isTidied = false;
  const shared = async <Value>(work: () => Promise<Value>, { signal }: TaskContext): Promise<Value> => {
    const held = await root.locks.hold(readersLock, { mode: "shared", wait: true, signal }, work);
    if (held === undefined) throw new Error("a lock that was waited for was not given");
    return held.value;
  };
  /** The first to come finishes what an earlier save began. */
  const tidyFirst = async (context: TaskContext): Promise<void> => {
    if (isTidied) return;
    isTidied = true;
    if (isUntidy(await rootView(root.storage).refresh(context))) await (await import("./save/tidying.js")).tidyLeftovers(root);
  };
  const viewed = async <Value>(work: (view: RootView) => Promise<Value>, context: TaskContext): Promise<Value> => {
    await tidyFirst(context);
    return shared(() => work(rootView(root.storage)), context);
  };
  return {
    listSteps: (context) => viewed(async (view) => stepsOf(await view.refresh(context)), context),
    read: (step, work, context) => viewed(async (view) => (await readUnchanged(view, step, work, context)).value, context),
    open: (step, work, context) =>
      viewed(async (view) => {
        const { value, identity } = await readUnchanged(view, step, work, context);
        const again: ReadAgain = (more, later, undo) => shared(() => readAgain(root, view, step, identity, more, later, undo), later);
        return { value, again };
      }, context),
  };
}

async function readUnchanged<Value>(
  view: RootView,
  step: number | undefined,
  work: (root: ReadableStorage) => Promise<Value>,
  context: TaskContext,
): Promise<{ readonly value: Value; readonly identity: string | undefined }> {
  const look = async () => {
    await view.refresh(context);
    return step === undefined ? undefined : view.identity(step, context);
  };
  let identity = await look();
  for (let tries = 1; ; tries++) {
    const outcome = await settled(work(view.storage));
    const now = await look();
    if (now === identity || tries === mostTries) return { value: outcome(), identity };
    identity = now;
  }
}

async function readAgain<Value>(
  { name }: WritableRoot,
  view: RootView,
  step: number,
  identity: string | undefined,
  work: () => Promise<Value>,
  context: TaskContext,
  undo?: (value: Value) => void,
): Promise<Value> {
  const requireSame = async () => {
    await view.refresh(context);
    if ((await view.identity(step, context)) === identity) return;
    throw new CheckpointNotFoundError(step, name, { advice: "it was deleted or replaced after it was opened; open it again" });
  };
  await requireSame();
  const outcome = await settled(work());
  try {
    await requireSame();
  } catch (error) {
    if (undo !== undefined && outcome.isValue) undo(outcome());
    throw error;
  }
  return outcome();
}

/** The outcome of a promise as a function that returns or throws it. */
const settled = <Value>(promise: Promise<Value>): Promise<(() => Value) & { readonly isValue: boolean }> =>
  promise.then(
    (value) => Object.assign(() => value, { isValue: true }),
    (error) =>
      Object.assign(
        () => {
          throw error;
        },
        { isValue: false },
      ),
  );
