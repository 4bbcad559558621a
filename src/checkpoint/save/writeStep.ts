import { writeOcdbt } from "../../ocdbt/write.js";
import { formatArrayMetadatas } from "../../pytree/formatArrayMetadatas.js";
import { formatStrings } from "../../pytree/formatStrings.js";
import { keepRichTypes } from "../../pytree/keepRichTypes.js";
import { paramName } from "../../pytree/keyPath.js";
import { formatRichTree } from "../../pytree/richTypes.js";
import { firstDevice, formatSharding } from "../../pytree/sharding.js";
import { formatTreeMetadata, type TreeEntry } from "../../pytree/treeMetadata.js";
import type { WritableStorage } from "../../storage/storage.js";
import { subfolder } from "../../storage/subfolder.js";
import type { TaskContext } from "../../tasks/context.js";
import { formatRecord, formatRecordedDtypes } from "../record/formatRecord.js";
import type { CheckpointMetadata } from "../record/record.js";
import { formatCommitMarker, formatStepMetadata, type ItemKind } from "../record/stepMetadata.js";
import { type ArrayWriting, arrayEntries, type EncodedLeaf, encodeLeaves } from "./arrayEntries.js";
import { identityFile } from "./commits.js";
import type { PlannedItem, PlannedNode, SavePlan } from "./planSave.js";

/** What of a step is not in its trees. */
export interface StepToWrite {
  readonly plan: SavePlan;
  readonly record: CheckpointMetadata;
  /** When the save began, in nanoseconds since the Unix epoch. */
  readonly startTimeNsecs: bigint;
  /** The folder's path that the markers name, as Orbax writes it. */
  readonly path: string;
}

/** What was written. */
export interface WrittenStep {
  /** Paths from the step's folder. */
  readonly files: readonly string[];
  /** The text of `_CHECKPOINT_METADATA`, in which no two saves agree. */
  readonly identity: string;
}

/**
 * Writes all files of a step as real Orbax would, into a folder of its own.
 * @param taken is called when the last byte of the arrays was read.
 * @throws StorageError where the place fails, DeviceError where a device does.
 */
export async function writeStep(
  folder: WritableStorage,
  step: StepToWrite,
  writing: ArrayWriting,
  taken: () => void,
  context: TaskContext,
): Promise<WrittenStep> {
  const files: string[] = [];
  const noted = notingFiles(folder, files);
  const text = (path: string, content: string) => noted.write(path, new TextEncoder().encode(content), { signal: context.signal });
  for (const item of step.plan.items) await writeItem(subfolder(noted, item.name), item, writing, context);
  taken();
  for (const { name } of step.plan.items) await text(`${name}/commit_success.txt`, formatCommitMarker(`${step.path}/${name}`));
  const known = step.plan.items.flatMap(({ name, dtypes }) => (dtypes === undefined ? [] : [[name, dtypes] as const]));
  const jsonItems = { dtypes: formatRecordedDtypes(new Map(known)), metadata: formatRecord(step.record) };
  for (const [name, content] of Object.entries(jsonItems)) {
    await text(`${name}/metadata`, content);
    await text(`${name}/commit_success.txt`, formatCommitMarker(`${step.path}/${name}`));
  }
  const items = new Map<string, ItemKind>([
    ...step.plan.items.map(({ name }) => [name, "pytree"] as const),
    ...Object.keys(jsonItems).map((name) => [name, "json"] as const),
  ]);
  const identity = formatStepMetadata({ items, startTimeNsecs: step.startTimeNsecs, commitTimeNsecs: nanosecondsNow() });
  await text(identityFile, identity);
  await text("commit_success.txt", formatCommitMarker(step.path));
  return { files, identity };
}

/** The time in nanoseconds since the Unix epoch; those that no clock here tells are random, so that no two moments are the same. */
export function nanosecondsNow(): bigint {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
  return BigInt(Date.now()) * 1_000_000n + BigInt(random % 1_000_000);
}

/** The same storage, which notes the paths that are written. */
function notingFiles(folder: WritableStorage, files: string[]): WritableStorage {
  return {
    ...folder,
    create: (path, options) => {
      files.push(path);
      return folder.create(path, options);
    },
    write: (path, bytes, options) => {
      files.push(path);
      return folder.write(path, bytes, options);
    },
  };
}

async function writeItem(folder: WritableStorage, item: PlannedItem, writing: ArrayWriting, context: TaskContext): Promise<void> {
  const text = (path: string, content: string) => folder.write(path, new TextEncoder().encode(content), { signal: context.signal });
  const leaves = encodeLeaves(item.arrays, writing);
  if (leaves.length > 0) {
    const { compression } = writing;
    await writeOcdbt(folder, arrayEntries(leaves, writing, context), { compression }, context);
  }
  const ofJax = leaves.filter(({ array }) => array.leaf.kind === "jax.Array");
  if (ofJax.length > 0) {
    await text("_sharding", formatSharding(new Map(ofJax.map(({ array }) => [array.name, firstDevice]))));
    await text("array_metadatas/process_0", formatArrayMetadatas(ofJax.map(arrayMetadataOf)));
  }
  const strings = item.nodes.flatMap((node) => textOf(node));
  if (strings.length > 0) await text("_strings.json", formatStrings(new Map(strings)));
  const options = { useOcdbt: true, useZarr3: false, storeArrayDataEqualToFillValue: true, customMetadata: null };
  const entries = item.nodes.map(treeEntry);
  const valueMetadataTree = item.richTypes && formatRichTree(keepRichTypes(entries, item.richTypes));
  await text("_METADATA", formatTreeMetadata({ entries, ...options, valueMetadataTree }));
}

const arrayMetadataOf = ({ array, encoded }: EncodedLeaf) => ({
  paramName: array.name,
  writeShape: array.leaf.shape,
  chunkShape: encoded.chunkShape,
  randomKeyImpl: array.leaf.keyImpl,
});

const textOf = (node: PlannedNode): (readonly [string, string])[] =>
  "leaf" in node && node.leaf.kind === "string" ? [[paramName(node.path), node.leaf.text]] : [];

function treeEntry(node: PlannedNode): TreeEntry {
  if (!("leaf" in node)) return { path: node.path, valueType: node.valueType, skipDeserialize: true };
  const { kind } = node.leaf;
  const entry = { path: node.path, valueType: kind, skipDeserialize: false };
  return kind === "jax.Array" && "shape" in node.leaf ? { ...entry, writeShape: node.leaf.shape } : entry;
}
