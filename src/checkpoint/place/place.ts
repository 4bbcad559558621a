import type { MetadataOfStep } from "../metadata/orbaxMetadata.js";
import type { Above } from "./above.js";
import type { FoundItem } from "./findItem.js";

/** What was given to be opened. */
export type CheckpointKind =
  /** A folder of steps. */
  | "root"
  /** A step with items; `"v1"` where Orbax's newer API wrote it. */
  | "step"
  | "v1"
  /** An item of a step, or a checkpoint of a time when none had items. */
  | "item"
  /** A checkpoint that was saved to a path, without steps and items. */
  | "direct"
  /** A single array. */
  | "array"
  /** The database of one process, of a save that was never merged. */
  | "process";

/** What was given, and what of it is wanted. */
export interface Wanted {
  /** Names the place in errors. */
  readonly label: string;
  /** The last part of the place's name; `""` where it has none. */
  readonly name: string;
  readonly above: Above | undefined;
  readonly step: number | undefined;
  readonly item: string | undefined;
}

/** Where the item stands that is to be opened. */
export interface Place {
  readonly kind: CheckpointKind;
  readonly step: number | undefined;
  /** Name of the step's folder, or of the file that flax wrote, in a root; undefined elsewhere. */
  readonly stepName: string | undefined;
  readonly item: FoundItem;
  /** The item's folder, or flax's file, from the opened place; `""` for that itself. */
  readonly path: string;
  readonly metadata: MetadataOfStep;
  /** Whether there is an item `dtypes` beside it, which substrax writes. */
  readonly hasDtypes: boolean;
}
