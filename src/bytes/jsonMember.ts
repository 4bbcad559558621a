import { CorruptCheckpointError } from "../errors.js";
import { formatJson } from "./formatJson.js";
import { isJsonObject, type JsonObject, type JsonValue, setMember } from "./json.js";

/** A value somewhere in a JSON file, which knows its place; every getter throws CorruptCheckpointError for another type. */
export class JsonMember {
  readonly #file: string;
  readonly #name: string | number;
  readonly #value: JsonValue | undefined;
  readonly #parent: JsonMember | undefined;

  /** @param name of the member in `parent`; without one, the place itself. */
  constructor(file: string, name: string | number, value: JsonValue | undefined, parent?: JsonMember) {
    this.#file = file;
    this.#name = name;
    this.#value = value;
    this.#parent = parent;
  }

  /** A member that has to be there. */
  member(name: string): JsonMember {
    return new JsonMember(this.#file, name, this.#own(name), this);
  }

  /** As `member(name).string()`; the three are for files of many thousand members, of which each costs an object only where it fails. */
  stringAt(name: string): string {
    const value = this.#own(name);
    return typeof value === "string" ? value : this.member(name).string();
  }

  booleanAt(name: string): boolean {
    const value = this.#own(name);
    return typeof value === "boolean" ? value : this.member(name).boolean();
  }

  integerAt(name: string): number {
    const value = this.#own(name);
    return typeof value === "number" ? value : this.member(name).integer();
  }

  /** A member that may be absent or null. */
  optional(name: string): JsonMember | undefined {
    const object = this.object();
    return Object.hasOwn(object, name) && object[name] !== null ? this.member(name) : undefined;
  }

  object(): JsonObject {
    return isJsonObject(this.#value) ? this.#value : this.fail("an object");
  }

  list(): JsonMember[] {
    if (!Array.isArray(this.#value)) return this.fail("a list");
    return this.#value.map((value, index) => new JsonMember(this.#file, index, value, this));
  }

  /** A list of integers, as `list()` and `integer()` give them. */
  integers(): number[] {
    const value = this.#value;
    const isListOfIntegers = Array.isArray(value) && value.every((element) => typeof element === "number");
    return isListOfIntegers ? value.slice() : this.list().map((element) => element.integer());
  }

  string(): string {
    return typeof this.#value === "string" ? this.#value : this.fail("a string");
  }

  boolean(): boolean {
    return typeof this.#value === "boolean" ? this.#value : this.fail("true or false");
  }

  integer(): number {
    return typeof this.#value === "number" ? this.#value : this.fail("an integer");
  }

  #own(name: string): JsonValue | undefined {
    const object = this.object();
    return Object.hasOwn(object, name) ? object[name] : undefined;
  }

  /** Put together for errors only: most members never fail. */
  get #place(): string {
    return this.#parent === undefined ? String(this.#name) : `${this.#parent.#place}, ${this.#name}`;
  }

  fail(expected: string, received = this.#value === undefined ? "nothing" : startOf(this.#value)): never {
    throw new CorruptCheckpointError({ path: this.#file, expected: `${expected} at ${this.#place}`, received });
  }
}

const longestStart = 60;

/** The start of a value as JSON; the rest, which may be long, is not formatted. */
const startOf = (value: JsonValue): string => formatJson(shortened(value, 3)).slice(0, longestStart);

function shortened(value: JsonValue, depth: number): JsonValue {
  if (typeof value === "string") return value.slice(0, longestStart);
  if (Array.isArray(value)) return depth === 0 ? [] : value.slice(0, longestStart).map((element) => shortened(element, depth - 1));
  if (!isJsonObject(value)) return value;
  const start: JsonObject = {};
  for (const key of Object.keys(value).slice(0, depth === 0 ? 0 : longestStart)) {
    setMember(start, key.slice(0, longestStart), shortened(value[key] ?? null, depth - 1));
  }
  return start;
}
