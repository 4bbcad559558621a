import { CorruptCheckpointError } from "../errors.js";

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

/** How {@link parseJson} hands over numbers with a fraction or an exponent. */
export interface JsonOptions {
  /** `"number"` (default), or `"tagged"`: as {@link JsonFloat}, so that `1.0` and `1` stay apart as in Python. */
  readonly floats?: "number" | "tagged";
}

/** Deepest nesting that is read; Python's own parser stops near 1,000. */
const deepestNesting = 512;
/** Longest file in bytes, and most values in it: those of some 150,000 leaves. More would take a page's memory for a few bytes each. */
export const longestJson = 64 * 1024 * 1024;
const mostValues = 2 * 1024 * 1024;
/** Most digits of an integer: Python's own limit, which keeps hostile input from quadratic work. */
const longestInteger = 4300;

/**
 * Parses JSON as Python writes it: bare `NaN`, `Infinity` and `-Infinity`, integers of any size, any key.
 * @param path names the file in errors.
 * @throws CorruptCheckpointError with the byte offset of what is no JSON, or too much of it.
 */
export function parseJson(bytes: Uint8Array, path: string, options: JsonOptions = {}): JsonValue {
  if (bytes.length > longestJson) {
    throw new CorruptCheckpointError({ path, expected: `a JSON file of at most ${longestJson} bytes`, received: `${bytes.length}` });
  }
  return new JsonParser(decodeText(bytes, path), path, options.floats === "tagged").parse();
}

function decodeText(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new CorruptCheckpointError({ path, expected: "JSON in UTF-8", received: "bytes that are not UTF-8", cause });
  }
}

/** Whether a value is a JSON object, not a list, a float or null. */
export const isJsonObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof JsonFloat);

/** Sets a member also where its name is `__proto__`. */
export function setMember<Value>(target: Record<string, Value>, key: string, value: Value): void {
  if (key === "__proto__") Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

const numberPattern = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const spacePattern = /[ \t\n\r]*/y;
const words: readonly (readonly [string, null | boolean | number])[] = [
  ["null", null],
  ["true", true],
  ["false", false],
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
];
const escapes: Readonly<Record<string, string>> = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

class JsonParser {
  readonly #text: string;
  readonly #path: string;
  readonly #tagFloats: boolean;
  #position = 0;
  #values = 0;

  constructor(text: string, path: string, tagFloats: boolean) {
    this.#text = text;
    this.#path = path;
    this.#tagFloats = tagFloats;
  }

  parse(): JsonValue {
    const value = this.#value(0);
    this.#space();
    if (this.#position < this.#text.length) this.#fail("the end of the JSON value");
    return value;
  }

  #value(depth: number): JsonValue {
    this.#space();
    this.#values += 1;
    if (this.#values > mostValues) this.#fail(`at most ${mostValues} values`);
    if (depth > deepestNesting) this.#fail(`at most ${deepestNesting} nested lists and objects`);
    const first = this.#text[this.#position];
    if (first === "{") return this.#object(depth);
    if (first === "[") return this.#list(depth);
    if (first === '"') return this.#string();
    return this.#word();
  }

  #object(depth: number): JsonObject {
    const object: JsonObject = {};
    this.#position += 1;
    if (this.#take("}")) return object;
    do {
      this.#space();
      if (this.#text[this.#position] !== '"') this.#fail("a member name");
      const key = this.#string();
      if (!this.#take(":")) this.#fail('":" after a member name');
      setMember(object, key, this.#value(depth + 1));
    } while (this.#take(","));
    if (!this.#take("}")) this.#fail('"," or "}"');
    return object;
  }

  #list(depth: number): JsonValue[] {
    const list: JsonValue[] = [];
    this.#position += 1;
    if (this.#take("]")) return list;
    do list.push(this.#value(depth + 1));
    while (this.#take(","));
    if (!this.#take("]")) this.#fail('"," or "]"');
    return list;
  }

  #string(): string {
    let start = this.#position + 1;
    let text = "";
    for (let at = start; ; at++) {
      const code = this.#text.charCodeAt(at);
      if (code === 0x22) {
        this.#position = at + 1;
        return text + this.#text.slice(start, at);
      }
      if (code === 0x5c) {
        this.#position = at;
        text += this.#text.slice(start, at) + this.#escape();
        start = this.#position;
        at = start - 1;
      } else if (!(code >= 0x20)) {
        this.#position = at;
        this.#fail("the rest of a string");
      }
    }
  }

  #escape(): string {
    const letter = this.#text[this.#position + 1] ?? "";
    if (letter === "u") {
      const digits = this.#text.slice(this.#position + 2, this.#position + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) this.#fail("four hexadecimal digits");
      this.#position += 6;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    const character = Object.hasOwn(escapes, letter) ? escapes[letter] : undefined;
    if (character === undefined) return this.#fail("an escape that JSON knows");
    this.#position += 2;
    return character;
  }

  #word(): JsonValue {
    for (const [word, value] of words) {
      if (!this.#text.startsWith(word, this.#position)) continue;
      this.#position += word.length;
      return typeof value === "number" ? this.#float(value) : value;
    }
    return this.#number();
  }

  #number(): JsonValue {
    numberPattern.lastIndex = this.#position;
    const match = numberPattern.exec(this.#text);
    if (match === null) return this.#fail("a JSON value");
    const [literal, fraction, exponent] = match;
    if (literal.length > longestInteger) this.#fail(`a number of at most ${longestInteger} digits`);
    this.#position += literal.length;
    if (fraction !== undefined || exponent !== undefined) return this.#float(Number(literal));
    const integer = Number(literal);
    return Number.isSafeInteger(integer) ? integer + 0 : BigInt(literal);
  }

  #float(value: number): JsonValue {
    return this.#tagFloats ? new JsonFloat(value) : value;
  }

  #space(): void {
    spacePattern.lastIndex = this.#position;
    spacePattern.exec(this.#text);
    this.#position = spacePattern.lastIndex;
  }

  #take(token: string): boolean {
    this.#space();
    if (this.#text[this.#position] !== token) return false;
    this.#position += 1;
    return true;
  }

  #fail(expected: string): never {
    const offset = new TextEncoder().encode(this.#text.slice(0, this.#position)).length;
    const rest = this.#text.slice(this.#position, this.#position + 20);
    throw new CorruptCheckpointError({
      path: this.#path,
      offset,
      expected,
      received: rest === "" ? "the end of the file" : JSON.stringify(rest),
    });
  }
}
