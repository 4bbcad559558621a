import { anObject, requireArgument } from "../../arguments.js";
import { membersOfProducer, membersOfRecord } from "./formatRecord.js";
import { type CheckpointMetadata as Metadata, parseProducer, parseRecord, type Producer as Writer } from "./record.js";
import type { PlainJson } from "./untagged.js";

// The names that users import, apart from what reads records: esbuild loads with a page whatever file the entry exports something of.

export type Producer = Writer;

/** Both ways between {@link Producer} and its JSON. */
export const Producer = {
  /** @throws CheckpointValidationError listing every member that is missing or of the wrong type. */
  fromDict: (payload: unknown): Producer => parseProducer(payload),
  toDict(producer: Producer): { name: string; version: string } {
    requireArgument("what Producer.toDict takes", producer, anObject);
    return membersOfProducer(producer);
  },
};

export type CheckpointMetadata = Metadata;

/** Both ways between {@link CheckpointMetadata} and the record's JSON, which keeps Python's snake_case. */
export const CheckpointMetadata = {
  /**
   * @throws UnsupportedCheckpointError for another format or version of it.
   * @throws CheckpointValidationError listing every member that is missing or of the wrong type.
   */
  fromDict: (payload: unknown): CheckpointMetadata => parseRecord(payload),
  /** All ten members in substrax's order. */
  toDict(metadata: CheckpointMetadata): Record<string, PlainJson> {
    requireArgument("what CheckpointMetadata.toDict takes", metadata, anObject);
    return membersOfRecord(metadata);
  },
};
