import { longestJson, parseJson } from "../bytes/json.js";
import { CorruptCheckpointError, UnsupportedCheckpointError } from "../errors.js";
import type { ReadableStorage } from "../storage/storage.js";
import type { TaskContext } from "../tasks/context.js";
import { Pace } from "../tasks/pace.js";
import { stopTogether } from "../tasks/stopTogether.js";
import { openItem } from "./item/openItem.js";
import { readDtypesFile } from "./record/dtypesFile.js";
import type { CheckpointMetadata } from "./record/record.js";
import type { OpenedItems } from "./restoreOpened.js";
import { missingRecordError } from "./steps.js";

/** Everything about a step that is known before the first chunk is read; its items in the record's order. */
export interface StepIndex extends OpenedItems {
  readonly step: number;
  readonly metadata: CheckpointMetadata;
}

/** JSON items lie in a file named `metadata`, whatever the item is called. */
const recordPath = "metadata/metadata";

/**
 * Reads a step's record.
 * @param directory names the root in errors.
 * @throws CheckpointNotFoundError where there is no such step.
 * @throws UnsupportedCheckpointError for a step of another writer or format.
 * @throws CheckpointValidationError, CorruptCheckpointError for a damaged record.
 */
export async function readRecord(
  root: ReadableStorage,
  step: number,
  directory: string,
  context: TaskContext,
): Promise<CheckpointMetadata> {
  const path = `${step}/${recordPath}`;
  const [bytes, { parseRecord }] = await Promise.all([
    root.read(path, { longest: longestJson, signal: context.signal }),
    import("./record/record.js"),
  ]);
  if (bytes === undefined) throw await missingRecordError(root, step, directory, context);
  const payload = parseJson(bytes, path, { floats: "tagged" });
  try {
    return parseRecord(payload);
  } catch (error) {
    if (error instanceof UnsupportedCheckpointError)
      throw new UnsupportedCheckpointError(`step ${step}: ${error.message}`, { cause: error });
    throw error;
  }
}

/**
 * Opens a step: reads its record and the index of each of its items. Independent files are asked for together.
 * @throws as {@link readRecord}, and CorruptCheckpointError naming the file of an item that is missing or damaged.
 */
export const openStep = (root: ReadableStorage, step: number, directory: string, context: TaskContext): Promise<StepIndex> =>
  stopTogether((together) => readStep(root, step, directory, together), context);

async function readStep(root: ReadableStorage, step: number, directory: string, context: TaskContext): Promise<StepIndex> {
  const pinned = root.snapshot?.() ?? root;
  const dtypesFile = readDtypesFile(pinned, String(step), context);
  const metadata = await readRecord(pinned, step, directory, context);
  const names = itemNames(metadata, step);
  const pace = new Pace(context.signal);
  const items = await Promise.all(names.map((name) => openItem(name, pinned, `${step}/${name}`, { node: "tree" }, pace, context)));
  return { step, metadata, items, dtypes: await dtypesFile };
}

/** Most items of a step; substrax writes five. */
const mostItems = 1000;

/** The names in the record, each once. */
function itemNames({ items }: CheckpointMetadata, step: number): string[] {
  const corrupt = (expected: string, received: string) => new CorruptCheckpointError({ path: `${step}/${recordPath}`, expected, received });
  const names = [...new Set(items)];
  if (names.length > mostItems) throw corrupt(`at most ${mostItems} items`, `${names.length}`);
  const bad = names.find((name) => !isFolderName(name));
  if (bad !== undefined) throw corrupt("item names that are folder names", JSON.stringify(bad.slice(0, 100)));
  return names;
}

const isFolderName = (name: string): boolean => !["", ".", ".."].includes(name) && !/[/\\\0]|\p{Cs}/u.test(name);
