/** A number that was written with a fraction, an exponent, or as `NaN` or `Infinity`: a Python float, however whole its value. */
export class JsonFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** What Python's `json` module writes; integers beyond 2^53 − 1 are bigints. */
export type JsonValue = null | boolean | number | bigint | string | JsonFloat | JsonValue[] | JsonObject;

/** A JSON object; `__proto__` is a member like any other. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/** Whether a value is a JSON object, not a list, a float or null. */
export const isJsonObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof JsonFloat);

/** Sets a member also where its name is `__proto__`. */
export function setMember<Value>(target: Record<string, Value>, key: string, value: Value): void {
  if (key === "__proto__") Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

/** Deepest nesting that is read; Python's own parser stops near 1,000. */
export const deepestNesting = 512;
