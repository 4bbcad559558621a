import { requireOptions } from "../../arguments.js";
import { likenessOf } from "./likeness.js";
import { planSave } from "./planSave.js";
import { type LockOptions, lockRules, requireSaveArguments } from "./saveOptions.js";
import * as steps from "./saveStep.js";
import type { WritableRoot } from "./writableRoot.js";

/**
 * Checks and saves items; the path of the step's folder. Throws as the store's `save`.
 * @param root opens the directory, after all arguments were checked.
 */
export async function saveItems(
  root: () => WritableRoot,
  items: Readonly<Record<string, unknown>>,
  save: Omit<steps.Save, "plan">,
): Promise<string> {
  const { step, options } = save;
  requireSaveArguments(step, items, options);
  const plan = planSave(items, await likenessOf(options.like));
  options.signal?.throwIfAborted();
  const opened = root();
  await steps.saveStep(opened, { ...save, plan });
  return `${opened.name}/${step}`;
}

/**
 * Deletes a step. Throws as the store's `delete`.
 * @param root opens the directory, after the options were checked.
 */
export async function deleteStep(root: () => WritableRoot, step: number, options: LockOptions): Promise<void> {
  requireOptions("delete", options, lockRules);
  await steps.deleteStep(root(), step, options);
}
