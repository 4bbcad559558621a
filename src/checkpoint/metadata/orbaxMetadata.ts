import { isJsonObject, type JsonValue } from "../../bytes/json.js";
import { isCheckpointError } from "../../errors.js";
import { pathIn } from "../../storage/paths.js";
import { formatName } from "../record/format.js";
import type { CheckpointMetadata } from "../record/record.js";
import type { PlainJson } from "../record/untagged.js";
import type { OptionalFiles } from "./optionalFiles.js";
import { numbersOf, objectOf, own, type StepFile, stepFileOf } from "./stepFile.js";

/**
 * What a checkpoint says of itself, in one shape for all versions of Orbax; what a version does not write, or the opened place does not
 * reach, is empty or undefined.
 */
export interface OrbaxMetadata extends StepFile {
  /** What was saved with the item: `custom_metadata` of its tree. */
  readonly itemMetadata: PlainJson | undefined;
  /** What was given to the manager of all steps. */
  readonly rootMetadata: Readonly<Record<string, PlainJson>>;
  /** The record that substrax and this package add to a step. */
  readonly record: CheckpointMetadata | undefined;
  /** Why files of metadata that are there could not be read: a restore does without them. */
  readonly unreadable: readonly string[];
}

/** What the record tells where nothing else was read. */
export const metadataOfRecord = (record: CheckpointMetadata): OrbaxMetadata => ({
  ...stepFileOf(null),
  metrics: record.metrics,
  itemMetadata: undefined,
  rootMetadata: {},
  record,
  unreadable: [],
});

/** What stands in the files beside the items. */
export type MetadataOfStep = StepFile & Pick<OrbaxMetadata, "rootMetadata" | "record">;

/** Which optional files may be there besides a step's own. */
export interface MetadataPlaces {
  /** The step's folder, from the opened place; `""` for that itself. */
  readonly folder: string;
  /** Whether there are folders named `metrics` and `metadata` in it. */
  readonly hasMetrics: boolean;
  readonly hasRecord: boolean;
  /** Whether there is a folder `metadata` beside the steps. */
  readonly hasRootMetadata: boolean;
}

/** Reads what there is of metadata beside the step's own file, all at once. */
export async function readMetadata(files: OptionalFiles, stepFile: StepFile, places: MetadataPlaces): Promise<MetadataOfStep> {
  const within = (path: string) => pathIn(places.folder, path);
  const [metrics, record, rootMetadata] = await Promise.all([
    places.hasMetrics ? files.read(within("metrics/metrics")) : undefined,
    places.hasRecord ? readRecord(files, within("metadata/metadata")) : undefined,
    places.hasRootMetadata ? readRootMetadata(files) : {},
  ]);
  return { ...stepFile, metrics: { ...stepFile.metrics, ...record?.metrics, ...numbersOf(metrics) }, record, rootMetadata };
}

/** Reads `_CHECKPOINT_METADATA`, which Orbax writes from 0.5.11 on. */
export const readStepFile = async (files: OptionalFiles, folder: string): Promise<StepFile> =>
  stepFileOf((await files.read(pathIn(folder, "_CHECKPOINT_METADATA"))) ?? null);

/** Any JSON item may be called `metadata`; undefined where it is not the record. */
async function readRecord(files: OptionalFiles, path: string): Promise<CheckpointMetadata | undefined> {
  const value = await files.read(path, { floats: "tagged" });
  if (!isJsonObject(value) || own(value, "format") !== formatName) return undefined;
  const { parseRecord } = await import("../record/record.js");
  try {
    return parseRecord(value);
  } catch (error) {
    if (!isCheckpointError(error)) throw error;
    files.unreadable.push(`${path}: ${error.message}`);
    return undefined;
  }
}

/** A JSON item up to Orbax 0.9.1, then a file of its own, whose member has had two names. */
async function readRootMetadata(files: OptionalFiles): Promise<Record<string, PlainJson>> {
  const [file, item] = await Promise.all(["metadata/_ROOT_METADATA", "metadata/metadata"].map((path) => files.read(path)));
  return isJsonObject(file) ? objectOf(customOf(file)) : objectOf(item);
}

const customOf = (file: { [key: string]: JsonValue }) => own(file, "custom_metadata") ?? own(file, "custom");
