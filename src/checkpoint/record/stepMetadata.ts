import { formatJson } from "../../bytes/formatJson.js";

/** What stands in `_CHECKPOINT_METADATA`, which Orbax keeps for each step and substrax never reads. */
export interface StepMetadata {
  /** What each of the step's folders holds: a tree, or a JSON file. */
  readonly items: ReadonlyMap<string, ItemKind>;
  /** When the save began and when it was committed, in nanoseconds since the Unix epoch. */
  readonly startTimeNsecs: bigint;
  readonly commitTimeNsecs: bigint;
}

/** The two kinds of items that substrax's steps have. */
export type ItemKind = keyof typeof handlers;

const handlers = {
  pytree: "orbax.checkpoint._src.handlers.pytree_checkpoint_handler.PyTreeCheckpointHandler",
  json: "orbax.checkpoint._src.handlers.json_checkpoint_handler.JsonCheckpointHandler",
} as const;

/** Writes `_CHECKPOINT_METADATA` as Orbax does, byte for byte, without custom metadata. */
export function formatStepMetadata({ items, startTimeNsecs, commitTimeNsecs }: StepMetadata): string {
  const names = [...items.keys()].sort();
  return formatJson({
    item_handlers: Object.fromEntries(names.map((name) => [name, handlers[items.get(name) ?? "pytree"]])),
    metrics: {},
    performance_metrics: {},
    init_timestamp_nsecs: startTimeNsecs,
    commit_timestamp_nsecs: commitTimeNsecs,
    custom_metadata: {},
  });
}

/** The text of `commit_success.txt` in the folder at `path`; readers only ask whether the file is there. */
export const formatCommitMarker = (path: string): string => `Checkpoint commit was successful to ${path}`;
