import { aSignal, integerFrom, requireOptions, shown } from "../arguments.js";
import { checkedStorage } from "../storage/checked.js";
import type { ReadableStorage } from "../storage/storage.js";
import type { TaskContext } from "../tasks/context.js";
import { stopTogether } from "../tasks/stopTogether.js";
import { type CheckpointDirectory, directoryName, requireDirectory, storageOf, writableRoot } from "./directory.js";
import { OptionalFiles } from "./metadata/optionalFiles.js";
import type { OpenedCheckpoint } from "./openedCheckpoint.js";
import type { FoundPlace, IndexOfPlace } from "./openPlace.js";
import { aboveOf, lastName } from "./place/above.js";
import { Explorer } from "./place/explorer.js";
import { findPlace } from "./place/findPlace.js";
import type { Wanted } from "./place/place.js";
import { readFreely } from "./readAgain.js";
import { type RestoreDefaults, restoreDefaultRules } from "./restore/restoreOptions.js";
import { isCommitFolder } from "./save/commitFolder.js";
import type { WritableRoot } from "./save/writableRoot.js";
import type { Opened } from "./stepAccess.js";
import { unlessChanged } from "./unlessChanged.js";

/** What of a checkpoint {@link openCheckpoint} opens, and how it restores unless its restores say otherwise. */
export interface OpenOptions<Device extends GPUDevice | undefined = GPUDevice | undefined> extends RestoreDefaults<Device> {
  /** Of a root: the step; the latest unless given. */
  readonly step?: number | undefined;
  /** Of a step: the item; its only tree of arrays unless given, or the one that has the name which Orbax gives where nobody did. */
  readonly item?: string | undefined;
  /** Version of the item's database, of those that it keeps; the newest unless given. */
  readonly generation?: bigint | number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens any Orbax checkpoint: a root of steps, a step, an item, a checkpoint without such, an array. What was given is found out by what is
 * there; what it holds is known afterwards, before any array is read.
 * @param source a URL, a folder's path in the browser's private file system (OPFS), or a storage.
 * @throws CheckpointNotFoundError where there is nothing, or no such step.
 * @throws CheckpointValueError for a bad option, a wrong level (naming the right one), and where an item has to be chosen (listing them).
 * @throws UnsupportedCheckpointError for what is recognised and not read, such as an unfinished step.
 * @throws CorruptCheckpointError naming the file that is damaged or missing, StorageError where the place fails.
 */
export async function openCheckpoint<Device extends GPUDevice | undefined = undefined>(
  source: CheckpointDirectory,
  options: OpenOptions<Device> = {},
): Promise<OpenedCheckpoint<Device>> {
  requireDirectory(source);
  requireOptions("openCheckpoint", options, openRules);
  const storage = storageOf(source);
  const wanted: Wanted = {
    label: directoryName(source),
    name: lastName(source),
    above: aboveOf(source),
    step: options.step,
    item: options.item,
  };
  const generation = options.generation === undefined ? undefined : BigInt(options.generation);
  const open = () => stopTogether((context) => openIn(storage, { wanted, generation, context }), { signal: options.signal });
  loadOpening().catch(() => undefined); // it comes while the place is looked at, and whether it failed is told when it is needed
  const first = await unlessChanged(open);
  const { openedPlace } = await loadOpening();
  const { kind, step } = first.value.place;
  const sameStep = kind === "root" ? { ...wanted, step } : wanted;
  const reopen = (later: TaskContext) => stopTogether((context) => openIn(storage, { wanted: sameStep, generation, context }), later);
  return openedPlace(first, options, reopen);
}

/** What reads an item's index: more than what finds the item. */
const loadOpening = () => import("./openPlace.js");

/** What is opened, and how. */
interface Opening {
  readonly wanted: Wanted;
  readonly generation: bigint | undefined;
  readonly context: TaskContext;
}

/** No path, so that nothing beside the step is opened. */
const isItemName = (value: unknown): boolean => typeof value === "string" && !["", ".", ".."].includes(value) && !/[/\\\0]/.test(value);

const isGeneration = (value: unknown): boolean =>
  typeof value === "bigint" ? value > 0n : Number.isSafeInteger(value) && Number(value) > 0;

const openRules = {
  ...restoreDefaultRules,
  step: integerFrom(0),
  item: { expected: "the name of a folder", accepts: isItemName, shown },
  generation: { expected: "a positive integer", accepts: isGeneration, shown },
  signal: aSignal,
};

function openIn(storage: ReadableStorage, opening: Opening): Promise<Opened<IndexOfPlace>> {
  const root = writableRoot(storage, opening.wanted.label);
  return root === undefined ? openReadable(checkedStorage(storage), opening) : openWritable(root, opening);
}

/** Of a place that cannot be changed from here: all is read in one version of it. */
async function openReadable(storage: ReadableStorage, opening: Opening): Promise<Opened<IndexOfPlace>> {
  const pinned = storage.snapshot?.() ?? storage;
  const { found, explorer } = await find(pinned, opening);
  try {
    const { openPlace } = await loadOpening();
    return { value: await openPlace(found, explorer.storage, opening.generation, opening.context), again: readFreely };
  } finally {
    explorer.forget();
  }
}

/** Of a place where steps come and go, as the store opens them. */
async function openWritable(root: WritableRoot, opening: Opening): Promise<Opened<IndexOfPlace>> {
  const { context, generation } = opening;
  const { lockedAccess } = await import("./stepAccess.js");
  const access = lockedAccess(root);
  const { found } = await access.read(undefined, (view) => find(view, opening), context);
  const { openPlace } = await loadOpening();
  const open = (view: ReadableStorage) => openPlace(found, view.snapshot?.() ?? view, generation, context);
  const { place } = found;
  if (place.step !== undefined && place.stepName === String(place.step)) return access.open(place.step, open, context);
  return { value: await access.read(undefined, open, context), again: readFreely };
}

async function find(storage: ReadableStorage, { wanted, context }: Opening): Promise<{ found: FoundPlace; explorer: Explorer }> {
  const explorer = await throughCommits(new Explorer(storage, context), storage, context);
  const files = new OptionalFiles(explorer.storage, context);
  const place = await findPlace({ wanted, explorer, files, context });
  return { found: { place, label: wanted.label, files }, explorer };
}

/** A root that was copied while commits waited to be tidied is seen through them, as the store sees it. */
async function throughCommits(explorer: Explorer, storage: ReadableStorage, context: TaskContext): Promise<Explorer> {
  const listed = await explorer.listed("");
  if (listed === undefined || ![...listed.directories].some(isCommitFolder)) return explorer;
  const { rootView } = await import("./save/rootView.js");
  const view = rootView(storage);
  await view.look(undefined, context);
  return new Explorer(view.storage, context);
}
