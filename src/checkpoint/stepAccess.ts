import { CheckpointNotFoundError, StorageError } from "../errors.js";
import type { ReadableStorage } from "../storage/storage.js";
import type { TaskContext } from "../tasks/context.js";
import { type ReadAgain, readFreely, type Undo } from "./readAgain.js";
import { isUntidy, stepsOf } from "./save/commits.js";
import { type Look, type RootView, rootView } from "./save/rootView.js";
import { readersLock, type WritableRoot } from "./save/writableRoot.js";
import { listStepFolders } from "./steps.js";
import { afterManyTries } from "./unlessChanged.js";

/** How steps are read while others may save, replace and delete them. */
export interface StepAccess {
  /** All steps, ascending. */
  listSteps(context: TaskContext): Promise<number[]>;
  /**
   * Runs work that reads from the root, in which every step stands in the folder of its number; undefined: of no step in particular.
   * @param undo takes back what was read, where the step turns out to have been replaced meanwhile.
   */
  read<Value>(
    step: number | undefined,
    work: (root: ReadableStorage) => Promise<Value>,
    context: TaskContext,
    undo?: Undo<Value>,
  ): Promise<Value>;
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
  /** Looks at the root, and reads. The first to come finishes what an earlier save began, and looks anew. */
  const viewed = async <Value>(
    step: number | undefined,
    read: (view: RootView, first: Look) => Promise<Value>,
    context: TaskContext,
  ): Promise<Value> => {
    const outcome = await shared(async () => {
      const view = rootView(root.storage);
      const first = await view.look(step, context);
      const isFirst = !isTidied;
      isTidied = true;
      return isFirst && isUntidy(first.state) ? undefined : { value: await read(view, first) };
    }, context);
    if (outcome !== undefined) return outcome.value;
    await (await import("./save/tidying.js")).tidyLeftovers(root);
    return viewed(step, read, context);
  };
  return {
    listSteps: (context) => viewed(undefined, async (_, { state }) => stepsOf(state), context),
    read: (step, work, context, undo) =>
      viewed(step, async (view, first) => (await readUnchanged(view, first, { step, work, undo }, context)).value, context),
    open: (step, work, context) =>
      viewed(
        step,
        async (view, first) => {
          const { value, identity } = await readUnchanged(view, first, { step, work }, context);
          const requireSame = (now: Look) => {
            if (now.identity === identity) return;
            throw new CheckpointNotFoundError(step, root.name, { advice: "it was deleted or replaced after it was opened; open it again" });
          };
          const again: ReadAgain = (more, later, undo) =>
            shared(async () => {
              const now = await view.look(step, later);
              return (await readUnchanged(view, now, { step, work: more, undo, requireSame }, later)).value;
            }, later);
          return { value, again };
        },
        context,
      ),
  };
}

/** What is read of a step, or of none in particular. */
interface StepRead<Value> {
  readonly step: number | undefined;
  work(root: ReadableStorage): Promise<Value>;
  readonly undo?: Undo<Value> | undefined;
  /** Throws where the step is not what it has to be. */
  requireSame?(look: Look): void;
}

/** Reads of one save of a step: where it is another one afterwards, or another process has moved some of its files, once more. */
async function readUnchanged<Value>(
  view: RootView,
  first: Look,
  { step, work, undo, requireSame }: StepRead<Value>,
  context: TaskContext,
): Promise<{ readonly value: Value; readonly identity: string | undefined }> {
  if (step === undefined) return { value: await work(view.storage), identity: undefined };
  let last = first;
  for (let tries = 1; ; tries++) {
    requireSame?.(last);
    const outcome = await settled(work(view.storage));
    const now = await view.look(step, context).catch((error: unknown) => {
      takeBack(outcome, undo);
      throw error;
    });
    if (now.identity === last.identity && now.place === last.place) return { value: outcome(), identity: now.identity };
    takeBack(outcome, undo);
    if (tries === mostTries) throw replacedTooOften(step);
    last = now;
  }
}

/** A program that takes no locks saves the step over and over. */
const replacedTooOften = (step: number) =>
  afterManyTries(
    new StorageError({
      path: String(step),
      reason: "changed",
      message: `step ${step} was replaced each of the ${mostTries} times that it was read; read it when whoever saves it has finished`,
    }),
  );

function takeBack<Value>(outcome: Outcome<Value>, undo: Undo<Value> | undefined): void {
  if (undo !== undefined && outcome.isValue) undo(outcome());
}

/** The outcome of a promise as a function that returns or throws it. */
type Outcome<Value> = (() => Value) & { readonly isValue: boolean };

const settled = <Value>(promise: Promise<Value>): Promise<Outcome<Value>> =>
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
