import { formatJson } from "../../bytes/formatJson.js";
import { JsonFloat, type JsonObject, setMember } from "../../bytes/json.js";
import type { CheckpointMetadata, Producer } from "./record.js";
import type { PlainJson } from "./untagged.js";

/** Writes the JSON item `metadata` as substrax does, byte for byte: all ten members, metrics always as floats. */
export function formatRecord(metadata: CheckpointMetadata): string {
  const metrics: JsonObject = {};
  for (const [name, value] of Object.entries(metadata.metrics)) setMember(metrics, name, new JsonFloat(value));
  return formatJson({ ...membersOfRecord(metadata), metrics } as JsonObject);
}

export const membersOfProducer = ({ name, version }: Producer): { name: string; version: string } => ({ name, version });

/** All ten members in substrax's order. */
export const membersOfRecord = (metadata: CheckpointMetadata): Record<string, PlainJson> => ({
  format: metadata.format,
  format_version: metadata.formatVersion,
  step: metadata.step,
  epoch: metadata.epoch,
  items: [...metadata.items],
  libraries: metadata.libraries,
  producer: metadata.producer === null ? null : membersOfProducer(metadata.producer),
  metrics: metadata.metrics,
  extra: metadata.extra,
  created_at: metadata.createdAt,
});

/** A moment as the record's `created_at`: UTC with microseconds, which are left out where they are 0, as Python prints it. */
export function formatCreatedAt(moment: Date): string {
  const [seconds, milliseconds] = moment.toISOString().slice(0, -1).split(".");
  return `${seconds}${milliseconds === "000" ? "" : `.${milliseconds}000`}+00:00`;
}

/** Writes the JSON item `dtypes` as substrax does: items in the caller's order, the leaves of each in tree order, by leaf path. */
export const formatRecordedDtypes = (dtypes: ReadonlyMap<string, ReadonlyMap<string, string>>): string =>
  formatMembers(
    Array.from(dtypes, ([item, leaves]) => [item, formatMembers(Array.from(leaves, ([leaf, name]) => [leaf, formatJson(name)]))]),
  );

/** An object whose members keep their order, which names that look like numbers lose in JavaScript's own. */
const formatMembers = (members: readonly (readonly [name: string, json: string])[]): string =>
  `{${members.map(([name, json]) => `${formatJson(name)}: ${json}`).join(", ")}}`;
