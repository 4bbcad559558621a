import { isJsonObject, JsonFloat, type JsonObject, type JsonValue, setMember } from "../../bytes/json.js";
import { type PlainJson, untagged } from "../record/untagged.js";

/** What stands in a step's `_CHECKPOINT_METADATA`, in one shape for all versions; what a version does not write is empty or undefined. */
export interface StepFile {
  /** Python class that wrote each item; that of a checkpoint without items stands under `""`. */
  readonly itemHandlers: Readonly<Record<string, string>>;
  readonly metrics: Readonly<Record<string, number>>;
  readonly performanceMetrics: Readonly<Record<string, number>>;
  /** When the save began and when it was committed, in nanoseconds since the Unix epoch. */
  readonly initTimestampNsecs: bigint | undefined;
  readonly commitTimestampNsecs: bigint | undefined;
  /** What the user saved with the step. */
  readonly customMetadata: Readonly<Record<string, PlainJson>>;
}

/** Takes from the file's value what has the right type: every member is optional, and none is needed for a restore. */
export function stepFileOf(value: JsonValue): StepFile {
  const members = isJsonObject(value) ? value : {};
  return {
    itemHandlers: handlersOf(own(members, "item_handlers")),
    metrics: numbersOf(own(members, "metrics")),
    performanceMetrics: numbersOf(own(members, "performance_metrics")),
    initTimestampNsecs: integerOf(own(members, "init_timestamp_nsecs")),
    commitTimestampNsecs: integerOf(own(members, "commit_timestamp_nsecs")),
    // Orbax 0.10 to 0.11.7 call it custom.
    customMetadata: objectOf(own(members, "custom_metadata") ?? own(members, "custom")),
  };
}

/** A member that is the object's own. */
export const own = (object: JsonObject, name: string): JsonValue | undefined => (Object.hasOwn(object, name) ? object[name] : undefined);

/** The numbers among the members, `NaN` and infinities included. */
export const numbersOf = (value: JsonValue | undefined): Record<string, number> => membersOf(value, numberOf);

/** The object's members as plain JSON; none of anything else. */
export const objectOf = (value: JsonValue | undefined): Record<string, PlainJson> => membersOf(value, untagged);

const handlersOf = (value: JsonValue | undefined): Record<string, string> =>
  typeof value === "string" ? { "": value } : membersOf(value, (member) => (typeof member === "string" ? member : undefined));

function membersOf<Member>(value: JsonValue | undefined, read: (value: JsonValue) => Member | undefined): Record<string, Member> {
  const members: Record<string, Member> = {};
  if (!isJsonObject(value)) return members;
  for (const [name, member] of Object.entries(value)) {
    const found = read(member);
    if (found !== undefined) setMember(members, name, found);
  }
  return members;
}

function numberOf(value: JsonValue): number | undefined {
  if (value instanceof JsonFloat) return value.value;
  return typeof value === "number" || typeof value === "bigint" ? Number(value) : undefined;
}

const integerOf = (value: JsonValue | undefined): bigint | undefined =>
  typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value)) ? BigInt(value) : undefined;
