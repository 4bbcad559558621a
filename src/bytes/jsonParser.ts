import { CorruptCheckpointError } from "../errors.js";
import { deepestNesting, JsonFloat, type JsonObject, type JsonValue, setMember } from "./jsonValue.js";

/** Most values of a file: those of some 150,000 leaves. More would take a page's memory for a few bytes each. */
const mostValues = 2 * 1024 * 1024;

/** Most characters of a number: Python's own limit, which keeps hostile input from quadratic work. */
const longestNumber = 4300;

const numberPattern = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const words: readonly (readonly [string, null | boolean | number])[] = [
  ["null", null],
  ["true", true],
  ["false", false],
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
];
const escapes: Readonly<Record<string, string>> = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** Codes of the characters that JSON is made of. */
const codes = { quote: 0x22, comma: 0x2c, colon: 0x3a, backslash: 0x5c, list: 0x5b, listEnd: 0x5d, object: 0x7b, objectEnd: 0x7d } as const;

/** A list or an object that is not at its end; `key` is the member that comes next. */
type Open =
  | { readonly list: JsonValue[]; readonly object?: undefined }
  | { readonly object: JsonObject; key: string; readonly list?: undefined };

/** Parses Python's JSON some values at a time, so that others have their turn in between. Every method throws CorruptCheckpointError. */
export class JsonParser {
  readonly #text: string;
  readonly #path: string;
  readonly #tagFloats: boolean;
  readonly #open: Open[] = [];
  #position = 0;
  #values = 0;

  constructor(text: string, path: string, tagFloats: boolean) {
    this.#text = text;
    this.#path = path;
    this.#tagFloats = tagFloats;
  }

  /** The value of the text, or undefined where it needs more than `count` further values. */
  next(count: number): JsonValue | undefined {
    for (const last = this.#values + count; this.#values < last; ) {
      const value = this.#begin();
      const root = value === undefined ? undefined : this.#complete(value);
      if (root === undefined) continue;
      this.#space();
      if (this.#position < this.#text.length) this.#fail("the end of the JSON value");
      return root;
    }
    return undefined;
  }

  /** Reads a value, or opens one that has something in it. */
  #begin(): JsonValue | undefined {
    this.#space();
    this.#values += 1;
    if (this.#values > mostValues) this.#fail(`at most ${mostValues} values`);
    if (this.#open.length > deepestNesting) this.#fail(`at most ${deepestNesting} nested lists and objects`);
    const first = this.#text.charCodeAt(this.#position);
    if (first === codes.quote) return this.#string();
    if (first === codes.object) {
      const object: JsonObject = {};
      this.#position += 1;
      if (this.#take(codes.objectEnd)) return object;
      this.#open.push({ object, key: this.#key() });
      return undefined;
    }
    if (first !== codes.list) return this.#word();
    const list: JsonValue[] = [];
    this.#position += 1;
    if (this.#take(codes.listEnd)) return list;
    this.#open.push({ list });
    return undefined;
  }

  /** Puts a value where it belongs, and closes what ends with it; the value of the text once that is whole. */
  #complete(value: JsonValue): JsonValue | undefined {
    let whole = value;
    for (let open = this.#open.at(-1); open !== undefined; open = this.#open.at(-1)) {
      if (open.list !== undefined) {
        open.list.push(whole);
        if (this.#take(codes.comma)) return undefined;
        if (!this.#take(codes.listEnd)) this.#fail('"," or "]"');
        whole = open.list;
      } else {
        setMember(open.object, open.key, whole);
        if (this.#take(codes.comma)) {
          open.key = this.#key();
          return undefined;
        }
        if (!this.#take(codes.objectEnd)) this.#fail('"," or "}"');
        whole = open.object;
      }
      this.#open.pop();
    }
    return whole;
  }

  #key(): string {
    this.#space();
    if (this.#text.charCodeAt(this.#position) !== codes.quote) this.#fail("a member name");
    const key = this.#string();
    if (!this.#take(codes.colon)) this.#fail('":" after a member name');
    return key;
  }

  #string(): string {
    let start = this.#position + 1;
    let text = "";
    for (let at = start; ; at++) {
      const code = this.#text.charCodeAt(at);
      if (code === codes.quote) {
        this.#position = at + 1;
        return text + this.#text.slice(start, at);
      }
      if (code === codes.backslash) {
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
    if (literal.length > longestNumber) this.#fail(`a number of at most ${longestNumber} digits`);
    this.#position += literal.length;
    if (fraction !== undefined || exponent !== undefined) return this.#float(Number(literal));
    const integer = Number(literal);
    return Number.isSafeInteger(integer) ? integer + 0 : BigInt(literal);
  }

  #float(value: number): JsonValue {
    return this.#tagFloats ? new JsonFloat(value) : value;
  }

  #space(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#position);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#position += 1;
    }
  }

  #take(code: number): boolean {
    this.#space();
    if (this.#text.charCodeAt(this.#position) !== code) return false;
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
