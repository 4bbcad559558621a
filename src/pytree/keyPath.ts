/** One step of a path through a tree: a list index (decimal) or a mapping's member name. */
export interface PathKey {
  readonly key: string;
  readonly kind: "sequence" | "mapping";
}

/** Path of a leaf from the root of its tree; `[]` for a bare leaf. */
export type KeyPath = readonly PathKey[];

/** Name of the leaf's array on disk: its keys joined with `.`, as Orbax builds it; `""` for a bare leaf. */
export const paramName = (path: KeyPath): string => path.map(({ key }) => key).join(".");

/** Path for people and for substrax's `dtypes` item: keys joined with `/`; `""` for a bare leaf. */
export const leafPath = (path: KeyPath): string => path.map(({ key }) => key).join("/");

/** Label of an entry of `_METADATA`: Python's `str()` of the tuple of key strings. */
export function pathLabel(path: KeyPath): string {
  const keys = path.map(({ key }) => pythonRepr(key));
  return keys.length === 1 ? `(${keys[0]},)` : `(${keys.join(", ")})`;
}

const namedEscapes: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\" };

// What Python's str.isprintable() denies: separators but the space, and all of category C.
const unprintable = /^[\p{C}\p{Z}]$/u;

/** A text as Python's `repr` prints it. */
function pythonRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = Array.from(text, (character) => {
    if (character === quote) return `\\${quote}`;
    const named = namedEscapes[character];
    if (named !== undefined) return named;
    return character !== " " && unprintable.test(character) ? hexEscape(character.codePointAt(0) ?? 0) : character;
  });
  return quote + body.join("") + quote;
}

function hexEscape(code: number): string {
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, "0")}`;
  if (code <= 0xffff) return `\\u${code.toString(16).padStart(4, "0")}`;
  return `\\U${code.toString(16).padStart(8, "0")}`;
}
