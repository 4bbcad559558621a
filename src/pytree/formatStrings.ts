import { formatSortedJson } from "../bytes/formatSortedJson.js";
import { CheckpointValueError } from "../errors.js";

/**
 * Writes `_strings.json` as Orbax does, byte for byte: each text at the JSON pointer `"/" + param name` (RFC 6901).
 * @throws CheckpointValueError listing what {@link unsavableStrings} finds.
 */
export function formatStrings(strings: ReadonlyMap<string, string>): string {
  const problems = Array.from(unsavableStrings(strings), ([name, problem]) => `${JSON.stringify(name)} ${problem}`);
  if (problems.length > 0) throw new CheckpointValueError(`strings that no checkpoint can hold: ${problems.join("; ")}`);
  const root: StringTree = new Map();
  for (const [name, text] of strings) place(root, tokensOf(name), text);
  return formatSortedJson(root);
}

/**
 * The string leaves that Orbax's own save refuses, by param name, and what is wrong with each: a `~` in the name that is no escape of a
 * JSON pointer, another string's name before a `/` of it, or half a surrogate pair, which is no UTF-8.
 */
export function unsavableStrings(strings: ReadonlyMap<string, string>): Map<string, string> {
  const problems = new Map<string, string>();
  for (const [name, text] of strings) {
    const above = startsBeforeSlashes(name).find((start) => strings.has(start));
    if (halfSurrogate.test(name) || halfSurrogate.test(text)) problems.set(name, "has half a surrogate pair, which is no UTF-8");
    else if (loneTilde.test(name)) problems.set(name, 'has a "~" in its name without a 0 or 1 behind it');
    else if (above !== undefined) problems.set(name, `would lie below the string ${JSON.stringify(above)}`);
  }
  return problems;
}

/** Texts and objects by token. */
type StringTree = Map<string, string | StringTree>;

const halfSurrogate = /\p{Surrogate}/u;
const loneTilde = /~(?![01])/;

function startsBeforeSlashes(name: string): string[] {
  const starts: string[] = [];
  for (let at = name.indexOf("/"); at >= 0; at = name.indexOf("/", at + 1)) starts.push(name.slice(0, at));
  return starts;
}

const tokensOf = (name: string): string[] => name.split("/").map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));

function place(root: StringTree, tokens: readonly string[], text: string): void {
  let node = root;
  for (const token of tokens.slice(0, -1)) {
    const below = node.get(token);
    const next: StringTree = below instanceof Map ? below : new Map();
    node.set(token, next);
    node = next;
  }
  node.set(tokens.at(-1) ?? "", text);
}
