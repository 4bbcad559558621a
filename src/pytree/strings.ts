import { isJsonObject, type JsonValue } from "../bytes/json.js";

/**
 * Finds a string leaf in the content of `_strings.json`, which Orbax addresses by the JSON pointer `"/" + param name`
 * (RFC 6901): a `/` in the name descends, `~1` and `~0` stand for `/` and `~`.
 * @returns the member's value, or undefined where there is none.
 */
export function findString(document: JsonValue, name: string): JsonValue | undefined {
  let value: JsonValue | undefined = document;
  for (const token of name.split("/")) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value;
}
