import { CheckpointValueError } from "./errors.js";

/** What a value may be: in words that follow "is", by a test, and how errors show another one. */
export interface Rule {
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
  /** Left out for what may hold a secret: then only its kind is told. */
  readonly shown?: (value: unknown) => string;
}

/** @throws CheckpointValueError that names the value, what it may be, and what it is. */
export function requireArgument(name: string, value: unknown, { expected, accepts, shown = kindOf }: Rule): void {
  if (!accepts(value)) throw new CheckpointValueError(`${name} is ${expected}, not ${shown(value)}`);
}

/**
 * Checks the options of a call, those that are given.
 * @param rules of every option that there is.
 * @throws CheckpointValueError as {@link requireArgument}, and for a name that is almost that of an option. Others are left alone, as everywhere on the
 * web: an object may be made for several calls.
 */
export function requireOptions(call: string, options: unknown, rules: Readonly<Record<string, Rule>>): void {
  requireArgument(`what ${call} takes as options`, options, anObject);
  const given = options as Readonly<Record<string, unknown>>;
  for (const [name, rule] of Object.entries(rules)) {
    if (given[name] !== undefined) requireArgument(`${call}'s option ${name}`, given[name], rule);
  }
  for (const name of Object.keys(given)) {
    if (given[name] === undefined || Object.hasOwn(rules, name)) continue;
    const meant = Object.keys(rules).find((known) => isMisspelt(name, known));
    if (meant !== undefined) throw new CheckpointValueError(`${call} has no option ${name}; it takes ${meant}`);
  }
}

/** Whether it is another name but for case and underscores, as Python's, or for at most two neighbouring letters. */
function isMisspelt(name: string, known: string): boolean {
  const letters = (text: string) => text.replaceAll("_", "").toLowerCase();
  const [a, b] = [letters(name), letters(known)];
  const shortest = Math.min(a.length, b.length);
  let start = 0;
  while (start < shortest && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < shortest - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  return Math.max(a.length, b.length) - start - end <= (b.length < 6 ? 1 : 2);
}

const longestText = 60;

/** A value as errors repeat it: numbers and short texts themselves, of all else the kind. */
export function shown(value: unknown): string {
  if (typeof value === "bigint") return `${value}n`.slice(0, longestText);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" ? JSON.stringify(value.slice(0, longestText)) : kindOf(value);
}

/** What kind of value it is, with its article. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  const isObject = typeof value === "object";
  const kind = isObject ? Object.prototype.toString.call(value).slice("[object ".length, -1).slice(0, longestText) : typeof value;
  const name = kind === "Object" || kind === "Array" ? kind.toLowerCase() : kind;
  return `${/^[aeiou]/i.test(name) ? "an" : "a"} ${name}`;
}

const rule = (expected: string, accepts: Rule["accepts"]): Rule => ({ expected, accepts, shown });

/** Of what is looked at elsewhere. */
export const anything = rule("anything", () => true);

export const aBoolean = rule("true or false", (value) => typeof value === "boolean");

export const aFunction = rule("a function", (value) => typeof value === "function");

export const aNumber = rule("a number", (value) => typeof value === "number");

export const aText = rule("a text", (value) => typeof value === "string");

/** By its tag, since arrays of other realms are as good. */
export const someBytes = rule("a Uint8Array", (value) => Object.prototype.toString.call(value) === "[object Uint8Array]");

/** Of options, or members by name. */
export const anObject = rule("an object", (value) => typeof value === "object" && value !== null && !Array.isArray(value));

/** By what is called on it: other realms, and other makes, have signals too. */
export const aSignal = rule("an AbortSignal", (value) => {
  const { aborted, addEventListener, throwIfAborted } = (value ?? {}) as Partial<AbortSignal>;
  return typeof aborted === "boolean" && typeof addEventListener === "function" && typeof throwIfAborted === "function";
});

/** An integer that a number holds exactly. */
export const integerFrom = (least: number, unit = ""): Rule =>
  rule(
    `${least === 0 ? "a non-negative integer up to 2^53 - 1" : `an integer from ${least}`}${unit}`,
    (value) => Number.isSafeInteger(value) && Number(value) >= least,
  );

/** One of some texts. */
export const oneOf = (...texts: readonly string[]): Rule =>
  rule(texts.map((text) => JSON.stringify(text)).join(" or "), (value) => texts.includes(value as string));

/** Null as well. */
export const orNull = ({ expected, accepts, ...rest }: Rule): Rule => ({
  ...rest,
  expected: `${expected} or null`,
  accepts: (value) => value === null || accepts(value),
});
