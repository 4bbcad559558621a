import { CorruptCheckpointError } from "../errors.js";
import { JsonParser } from "./jsonParser.js";
import type { JsonValue } from "./jsonValue.js";
import { isPlainJson, longestPlain } from "./plainJson.js";

export { isJsonObject, JsonFloat, type JsonObject, type JsonValue, setMember } from "./jsonValue.js";

/** How {@link parseJson} hands over numbers with a fraction or an exponent. */
export interface JsonOptions {
  /** `"number"` (default), or `"tagged"`: as {@link JsonFloat}, so that `1.0` and `1` stay apart as in Python. */
  readonly floats?: "number" | "tagged";
}

/** When {@link parseJsonInTurns} lets others have their turn. */
export interface Rests {
  readonly due: boolean;
  rest(): Promise<void>;
}

/** Longest file in bytes. */
export const longestJson = 64 * 1024 * 1024;

/** Values, and bytes of text, that are worked on between two looks at the clock. */
const valuesAtOnce = 4096;
const bytesAtOnce = 1024 * 1024;

/**
 * Parses JSON as Python writes it: bare `NaN`, `Infinity` and `-Infinity`, integers of any size, any key.
 * @param path names the file in errors.
 * @throws CorruptCheckpointError with the byte offset of what is no JSON, or too much of it.
 */
export function parseJson(bytes: Uint8Array, path: string, options: JsonOptions = {}): JsonValue {
  requireLength(bytes, path);
  const tagFloats = options.floats === "tagged";
  const text = decoded(path, () => decoder.decode(bytes));
  if (isPlainJson(bytes, tagFloats)) {
    try {
      return JSON.parse(text) as JsonValue;
    } catch {
      // Words that only Python has, or damage: the other parser tells.
    }
  }
  const parser = new JsonParser(text, path, tagFloats);
  for (;;) {
    const value = parser.next(Number.POSITIVE_INFINITY);
    if (value !== undefined) return value;
  }
}

/** As {@link parseJson}; a long file is parsed with rests in between. */
export async function parseJsonInTurns(bytes: Uint8Array, path: string, rests: Rests, options: JsonOptions = {}): Promise<JsonValue> {
  if (bytes.length <= longestPlain) return parseJson(bytes, path, options);
  requireLength(bytes, path);
  const parser = new JsonParser(await decodeInTurns(bytes, path, rests), path, options.floats === "tagged");
  for (;;) {
    const value = parser.next(valuesAtOnce);
    if (value !== undefined) return value;
    if (rests.due) await rests.rest();
  }
}

function requireLength({ length }: Uint8Array, path: string): void {
  if (length <= longestJson) return;
  throw new CorruptCheckpointError({ path, expected: `a JSON file of at most ${longestJson} bytes`, received: `${length}` });
}

const utf8 = { fatal: true, ignoreBOM: true } as const;

// One for all, as making one takes longer than decoding the metadata of an array.
const decoder = /* @__PURE__ */ new TextDecoder("utf-8", utf8);

async function decodeInTurns(bytes: Uint8Array, path: string, rests: Rests): Promise<string> {
  const streaming = new TextDecoder("utf-8", utf8);
  let text = "";
  for (let start = 0; start < bytes.length; start += bytesAtOnce) {
    text += decoded(path, () => streaming.decode(bytes.subarray(start, start + bytesAtOnce), { stream: true }));
    if (rests.due) await rests.rest();
  }
  return text + decoded(path, () => streaming.decode());
}

function decoded(path: string, decode: () => string): string {
  try {
    return decode();
  } catch (cause) {
    throw new CorruptCheckpointError({ path, expected: "JSON in UTF-8", received: "bytes that are not UTF-8", cause });
  }
}
