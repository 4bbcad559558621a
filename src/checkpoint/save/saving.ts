import type { StoredTree } from "../item/leaves.js";
import { planSave } from "./planSave.js";
import { type LockOptions, requireIfLocked, requireSaveArguments, type SaveOptions } from "./saveOptions.js";
import * as steps from "./saveStep.js";
import type { WritableRoot } from "./writableRoot.js";

/** What a store adds to a save. */
export interface StorePolicy extends steps.SavePolicy {
  /** Trees whose kinds the leaves keep, by item. */
  readonly kinds: ReadonlyMap<string, StoredTree>;
}

/**
 * Checks and saves items; the path of the step's folder. Throws as the store's `save`.
 * @param root opens the directory, after all arguments were checked.
 */
export async function saveItems(
  root: () => WritableRoot,
  step: number,
  items: Readonly<Record<string, unknown>>,
  options: SaveOptions,
  policy: StorePolicy,
  taken: () => void,
): Promise<string> {
  requireSaveArguments(step, items, options);
  const plan = planSave(items, policy.kinds);
  options.signal?.throwIfAborted();
  const opened = root();
  await steps.saveStep(opened, step, plan, options, policy, taken);
  return `${opened.name}/${step}`;
}

/** Deletes a step. Throws as the store's `delete`. */
export async function deleteStep(root: WritableRoot, step: number, options: LockOptions): Promise<void> {
  requireIfLocked(options.ifLocked);
  await steps.deleteStep(root, step, options);
}
