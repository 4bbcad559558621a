import { longestJson, parseJson } from "../bytes/json.js";
import { CorruptCheckpointError, isCheckpointError, StorageError, UnsupportedCheckpointError } from "../errors.js";
import { pathIn } from "../storage/paths.js";
import type { ReadableStorage } from "../storage/storage.js";
import type { TaskContext } from "../tasks/context.js";
import { Pace } from "../tasks/pace.js";
import type { ArrayLeaf } from "./item/leaves.js";
import { type ItemIndex, type ItemOptions, openItem } from "./item/openItem.js";
import type { OptionalFiles } from "./metadata/optionalFiles.js";
import type { OrbaxMetadata } from "./metadata/orbaxMetadata.js";
import { type OpenedCheckpoint, openedCheckpoint, type Reading } from "./openedCheckpoint.js";
import { openedJson } from "./openedJson.js";
import { jsonFiles, kindOfHandler } from "./place/itemKind.js";
import type { Place } from "./place/place.js";
import { requireNoGroup } from "./place/requireNoGroup.js";
import { readOn } from "./readOn.js";
import { readDtypesFile } from "./record/dtypesFile.js";
import type { RecordedDtypes } from "./record/recordedDtypes.js";
import { type PlainJson, untagged } from "./record/untagged.js";
import type { RestoreDefaults } from "./restore/restoreOptions.js";
import { textOfItem } from "./sameSave.js";
import type { Opened } from "./stepAccess.js";
import { storedBytesOf } from "./storedBytes.js";

/** What was found of a checkpoint. */
export interface FoundPlace {
  readonly place: Place;
  /** Names the opened place in errors. */
  readonly label: string;
  readonly files: OptionalFiles;
}

/** Everything about a place that is known before an array is read. */
export type IndexOfPlace = { readonly place: Place; readonly metadata: OrbaxMetadata } & (
  | {
      readonly kind: "tree";
      readonly item: ItemIndex;
      readonly storedBytes: ReadonlyMap<ArrayLeaf, number>;
      dtypes(): RecordedDtypes | undefined;
    }
  | { readonly kind: "json"; readonly value: PlainJson }
);

/**
 * Reads the index of the item that was found.
 * @throws CorruptCheckpointError naming the file that is missing or damaged.
 */
export async function openPlace(
  { place, label, files }: FoundPlace,
  storage: ReadableStorage,
  generation: bigint | undefined,
  context: TaskContext,
): Promise<IndexOfPlace> {
  const { item, path, metadata, stepName = "", hasDtypes } = place;
  const complete = (itemMetadata?: PlainJson): OrbaxMetadata => ({ ...metadata, itemMetadata, unreadable: files.unreadable });
  if (item.kind === "json") return { kind: "json", place, metadata: complete(), value: await readJson(place, label, storage, context) };
  await requireNoGroup(place, label, storage, context);
  const pace = new Pace(context.signal);
  const node = metadata.record?.items.includes(item.name) ? "tree" : undefined;
  const isTree = kindOfHandler(metadata.itemHandlers[item.name]) === "pytree";
  const options: ItemOptions = { node, generation, isTree, isPart: place.kind === "process" };
  const [index, dtypes] = await Promise.all([
    unlessEmpty(place, label, openItem(item.name, storage, path, options, pace, context)),
    hasDtypes ? readDtypesFile(storage, stepName, context) : () => undefined,
  ]);
  const storedBytes = await storedBytesOf(index, pace, context);
  const itemMetadata = index.customMetadata === undefined ? undefined : untagged(index.customMetadata);
  return { kind: "tree", place, metadata: complete(itemMetadata), item: index, storedBytes, dtypes };
}

/** A process that wrote no array's metadata, which one does for all, has left a database all the same. */
async function unlessEmpty(place: Place, label: string, opening: Promise<ItemIndex>): Promise<ItemIndex> {
  try {
    return await opening;
  } catch (error) {
    if (place.kind !== "process" || !isCheckpointError(error, "Corrupt") || error.path !== "_METADATA") throw error;
    throw new UnsupportedCheckpointError(
      `${label} is the database of a process that wrote no array's metadata: give the folder of the item, above it`,
    );
  }
}

/** Makes an opened checkpoint of the index of a place. */
export function openedPlace<Device extends GPUDevice | undefined>(
  first: Opened<IndexOfPlace>,
  defaults: RestoreDefaults<Device>,
  reopen: (context: TaskContext) => Promise<Opened<IndexOfPlace>>,
): OpenedCheckpoint<Device> {
  const { place, metadata, ...index } = first.value;
  const facts = {
    kind: place.kind,
    step: place.step,
    item: place.item.name === "" ? undefined : place.item.name,
    path: place.path,
    metadata,
  };
  if (index.kind === "json") return openedJson(facts, index.value);
  const { storedBytes } = index;
  const reading = readOn(readingOf(first), async (context) => readingOf(await reopen(context)), textOfReading);
  return openedCheckpoint({ ...facts, storedBytes }, index.item, reading, defaults);
}

/** Which save it is, by the time of its commit and its leaves. */
const textOfReading = ({ item, committed }: PlaceReading): string => `${committed} ${textOfItem(item)}`;

interface PlaceReading extends Reading {
  /** When it was, in any clock that the checkpoint has. */
  readonly committed: string;
}

function readingOf({ value, again }: Opened<IndexOfPlace>): PlaceReading {
  if (value.kind === "json")
    throw new StorageError({ path: value.place.path, reason: "changed", message: "it is JSON now; open the checkpoint again" });
  const { place, item, dtypes, metadata } = value;
  const committed = `${metadata.commitTimestampNsecs} ${metadata.record?.createdAt}`;
  return { opened: { step: place.step, items: [item], dtypes }, item, again, committed };
}

/** Reads the value of a JSON item, whose file has had several names. */
async function readJson({ item, path }: Place, label: string, storage: ReadableStorage, { signal }: TaskContext): Promise<PlainJson> {
  for (const file of jsonFiles(item.name)) {
    const full = pathIn(path, file);
    if (item.folder?.isListed === true && !item.folder.files.has(file)) continue;
    const bytes = await storage.read(full, { longest: longestJson, signal });
    if (bytes !== undefined) return untagged(parseJson(bytes, full));
  }
  const expected = `the JSON of ${item.name === "" ? label : `item ${JSON.stringify(item.name)}`}`;
  throw new CorruptCheckpointError({ path: pathIn(path, "metadata"), expected, received: "no such file" });
}
