import * as z from "zod/mini";
import { isJsonObject, JsonFloat, type JsonObject, type JsonValue } from "../../bytes/json.js";
import { UnsupportedCheckpointError } from "../../errors.js";
import { formatName, formatVersion } from "./format.js";
import { anyJson, float, integer, listOf, membersOf, validate } from "./jsonSchemas.js";
import type { PlainJson } from "./untagged.js";

/** The library that wrote a checkpoint, when it says. */
export interface Producer {
  readonly name: string;
  readonly version: string;
}

/** What a checkpoint says about itself: substrax's record, which Orbax stores as the JSON item `metadata`. */
export interface CheckpointMetadata {
  /** Always `"substrax-checkpoint"`. */
  readonly format: string;
  /** Always 1. */
  readonly formatVersion: number;
  /** The step as recorded; the folder's name counts where they differ. Beyond 2^53 the nearest double. */
  readonly step: number;
  readonly epoch: number | null;
  /** Item names in the order in which the caller gave them. */
  readonly items: readonly string[];
  /** Versions of the libraries at write time; informational. */
  readonly libraries: Readonly<Record<string, string>>;
  readonly producer: Producer | null;
  /** Scalar metrics, which `bestStep` compares; NaN and infinities are values. */
  readonly metrics: Readonly<Record<string, number>>;
  /** The caller's own JSON values. */
  readonly extra: Readonly<Record<string, PlainJson>>;
  /** Write time: ISO 8601 in UTC, as text. */
  readonly createdAt: string;
}

/** @throws CheckpointValidationError listing every member that is missing or of the wrong type. */
export const parseProducer = (payload: unknown): Producer => validate(producerSchema, payload, "the producer");

/**
 * Reads the record's JSON, which keeps Python's snake_case.
 * @throws UnsupportedCheckpointError for another format or version of it.
 * @throws CheckpointValidationError listing every member that is missing or of the wrong type.
 */
export function parseRecord(payload: unknown): CheckpointMetadata {
  if (isJsonObject(payload as JsonValue)) refuseOtherFormats(payload as JsonObject);
  const record = validate(recordSchema, payload, "the checkpoint's record");
  return {
    format: record.format,
    formatVersion: record.format_version ?? formatVersion,
    step: record.step,
    epoch: record.epoch ?? null,
    items: record.items,
    libraries: record.libraries ?? {},
    producer: record.producer ?? null,
    metrics: record.metrics ?? {},
    extra: record.extra ?? {},
    createdAt: record.created_at,
  };
}

function refuseOtherFormats(payload: JsonObject): void {
  const name = Object.hasOwn(payload, "format") ? payload.format : undefined;
  if (name !== formatName) {
    const older = Object.hasOwn(payload, "checkpoint_version") ? ", which substrax before 0.1.10 wrote" : "";
    throw new UnsupportedCheckpointError(`not a ${formatName} record: format ${show(name)}${older}; save it again with a current substrax`);
  }
  const version = payload.format_version;
  // As in substrax, only an integer (false counts as one) is another version; any other type is left to the validation.
  const isOtherVersion = version === false || typeof version === "bigint" || (Number.isInteger(version) && version !== formatVersion);
  if (isOtherVersion) {
    throw new UnsupportedCheckpointError(
      `checkpoint format ${show(version)} is not the format ${formatVersion} that this package reads; a newer orbax-webgpu may read it`,
    );
  }
}

const show = (value: JsonValue | undefined): string => {
  if (value === undefined) return "missing";
  if (value instanceof JsonFloat) return String(value.value);
  return typeof value === "string" || typeof value === "object" ? (JSON.stringify(value, bigintAsText) ?? "").slice(0, 60) : String(value);
};

const bigintAsText = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);

const producerSchema = z.object({ name: z.string(), version: z.string() });

const recordSchema = z.object({
  format: z.string(),
  format_version: z.optional(integer),
  step: integer,
  epoch: z.optional(z.nullable(integer)),
  items: listOf(z.string()),
  libraries: z.optional(membersOf(z.string())),
  producer: z.optional(z.nullable(producerSchema)),
  metrics: z.optional(membersOf(float)),
  extra: z.optional(membersOf(anyJson)),
  created_at: z.string(),
});
