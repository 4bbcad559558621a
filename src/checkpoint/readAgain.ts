import type { TaskContext } from "../tasks/context.js";

/** Takes back what was read. */
export type Undo<Value> = (value: Value) => void;

/**
 * Reads an opened step on.
 * @param undo takes back what was read, where the step turns out to have been replaced meanwhile.
 * @throws CheckpointNotFoundError where the step was deleted or replaced since it was opened.
 */
export type ReadAgain = <Value>(work: () => Promise<Value>, context: TaskContext, undo?: Undo<Value>) => Promise<Value>;

/** Of what cannot change. */
export const readFreely: ReadAgain = (work) => work();
