import {
  CheckpointNotFoundError,
  CheckpointValueError,
  isCheckpointError,
  type StorageError,
  UnsupportedCheckpointError,
} from "../../errors.js";
import type { TaskContext } from "../../tasks/context.js";
import type { Above } from "./above.js";
import type { Folder } from "./explorer.js";
import { itemKinds } from "./itemKind.js";
import { levelProbes } from "./level.js";
import { quoted } from "./lookBelow.js";
import type { Wanted } from "./place.js";
import { isProcess, stepOfFile } from "./stepName.js";

/** The error of an option that makes no sense at what was given. */
export function requireNoChoice({ label, name, step, item }: Wanted, what: string): void {
  if (step !== undefined)
    throw new CheckpointValueError(`${label} is ${what}: leave the option step out, or give the folder that holds the steps`);
  if (item !== undefined && item !== name)
    throw new CheckpointValueError(`${label} is ${what}: leave the option item out, or give the folder that holds the items`);
}

/** @throws CheckpointValueError for a process's database of an item that has all of them in one. */
export async function refuseMerged({ label, name, above }: Wanted, context: TaskContext): Promise<void> {
  if (!isProcess(name) || above === undefined || !(await hasFile(above, "manifest.ocdbt", context))) return;
  throw new CheckpointValueError(`${label} is what one process wrote of an item, whose database has it all: give ${above.label}`);
}

/** The error of a folder in which nothing stands that could be opened. */
export async function nothingError(
  wanted: Wanted,
  { files }: Folder,
  whyUnlisted: StorageError | undefined,
  context: TaskContext,
): Promise<Error> {
  const { label, name, above, step } = wanted;
  if (above !== undefined && (await hasFile(above, name, context))) {
    const fileStep = stepOfFile(name);
    const right =
      fileStep === undefined
        ? `the folder of the checkpoint, which may be ${above.label}`
        : `${above.label} with the option step: ${fileStep}`;
    return new CheckpointValueError(`${label} is a file: give ${right}`);
  }
  const advice =
    whyUnlisted === undefined
      ? files.size > 0
        ? `it holds ${quoted([...files].sort().slice(0, 10))}, none of which belongs to a checkpoint: check the address`
        : "the folder is empty, or is not there: check the address"
      : `the folder cannot be listed, and none of ${levelProbes.join(", ")} is there: check the address, or give the step's own (${whyUnlisted.message})`;
  return new CheckpointNotFoundError(step, label, { advice });
}

/** The error of what stands within an item. */
export const partError = ({ label, above }: Wanted, what: string): CheckpointValueError =>
  new CheckpointValueError(
    `${label} is ${what}: give the folder of the item, ${above === undefined ? "above it" : `such as ${above.label}`}`,
  );

/** The error of an item that is recognised and not read. */
export const unsupportedError = (label: string, kind: keyof typeof itemKinds): UnsupportedCheckpointError =>
  new UnsupportedCheckpointError(
    `${label} is ${itemKinds[kind]}, which is not read: open it with what wrote it, and save it with Orbax as a tree of arrays`,
  );

async function hasFile({ storage }: Above, name: string, { signal }: TaskContext): Promise<boolean> {
  try {
    return (await storage.read(name, { range: { offset: 0, length: 1 }, signal })) !== undefined;
  } catch (error) {
    // Looking around is a courtesy: where it fails, the error is the one of before.
    if (isCheckpointError(error, "Storage")) return error.reason === "length";
    throw error;
  }
}
