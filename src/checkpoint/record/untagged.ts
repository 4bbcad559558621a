import { isJsonObject, JsonFloat, type JsonValue, setMember } from "../../bytes/json.js";

/** A plain JSON value; integers beyond 2^53 − 1 are bigints. */
export type PlainJson = null | boolean | number | bigint | string | readonly PlainJson[] | { readonly [key: string]: PlainJson };

/** The value with floats as plain numbers. */
export function untagged(value: JsonValue): PlainJson {
  if (value instanceof JsonFloat) return value.value;
  if (Array.isArray(value)) return value.map(untagged);
  if (!isJsonObject(value)) return value;
  const object: Record<string, PlainJson> = {};
  for (const [key, member] of Object.entries(value)) setMember(object, key, untagged(member));
  return object;
}
