import { formatJson } from "../bytes/formatJson.js";
import type { JsonValue } from "../bytes/json.js";
import { StorageError } from "../errors.js";
import { isAbsentFile } from "../storage/streamRange.js";
import type { TaskContext } from "../tasks/context.js";
import type { ItemIndex } from "./item/openItem.js";
import type { StepIndex } from "./openStep.js";
import { type ReadOn, readOn } from "./readOn.js";
import type { Opened } from "./stepAccess.js";

/** Opens a step, as it is then. */
export type OpeningStep = (context: TaskContext) => Promise<Opened<StepIndex>>;

/**
 * Reads on by an opened step as long as it is the same save; opened anew, it may be another.
 * @param reopen opens it anew; without it a changed file is an error at once.
 */
export function readSave(first: Opened<StepIndex>, reopen: OpeningStep | undefined): ReadOn<Opened<StepIndex>> {
  if (reopen === undefined) return readOn(first);
  const reopenSame: OpeningStep = async (context) => requireSameSave(first.value, await reopen(context));
  const readOnceMore = readOn(first, reopenSame);
  return (read, context) =>
    unlessReplaced(
      () => readOnceMore(read, context),
      () => first.value,
      reopen,
      context,
    );
}

/**
 * Reads what was opened. A step that was replaced mostly lacks the files of the save before, whose names are random: where one is absent, the step is
 * looked at once more.
 * @param opened what is known of it, as soon as it is opened.
 * @throws StorageError `"changed"` where it is another save by then.
 */
export async function unlessReplaced<Value>(
  read: () => Promise<Value>,
  opened: () => StepIndex | undefined,
  reopen: OpeningStep,
  { signal }: TaskContext,
): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    const first = opened();
    if (first !== undefined && isAbsentFile(error)) requireSameSave(first, await reopen({ signal }));
    throw error;
  }
}

/**
 * What is there now, where it is what was opened: leaves and record are what the caller knows of the step.
 * @throws StorageError `"changed"` for another save of the step.
 */
function requireSameSave(first: StepIndex, opened: Opened<StepIndex>): Opened<StepIndex> {
  if (textOf(first) === textOf(opened.value)) return opened;
  const message = "the step was saved anew after it was opened, and what was read of it belongs to the save before: open it again";
  throw new StorageError({ path: String(first.step), reason: "changed", message });
}

/** All that is known of a step, as a text. A record's members are JSON, which its class does not say to TypeScript. */
const textOf = ({ metadata, items }: StepIndex): string => formatJson([metadata as unknown as JsonValue]) + items.map(textOfItem).join();

/** What is known of an item's leaves, as a text. */
export const textOfItem = ({ name, leaves }: ItemIndex): string =>
  formatJson([
    name,
    ...leaves.map((leaf) => {
      if (leaf.kind === "string") return [leaf.path, leaf.value];
      return "array" in leaf ? [leaf.path, leaf.kind, leaf.array.spec.dtype, [...leaf.array.spec.shape]] : [leaf.path, leaf.valueType];
    }),
  ]);
