import { compareText } from "./compareText.js";

/** JSON whose numbers are integers. */
export type SortedJson = null | boolean | number | string | readonly SortedJson[] | ReadonlyMap<string, SortedJson>;

/**
 * Formats JSON exactly as TensorStore does: compact, members in the order of their names' bytes, characters beyond ASCII as they are.
 * @throws RangeError for a number that is no safe integer: floats have a notation of their own there.
 */
export function formatSortedJson(value: SortedJson): string {
  if (value === null || typeof value === "boolean") return String(value);
  // JavaScript escapes the same characters in the same way.
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") return formatInteger(value);
  if (!isMap(value)) return `[${value.map(formatSortedJson).join(",")}]`;
  const members = [...value].sort(([a], [b]) => compareText(a, b));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${formatSortedJson(member)}`).join(",")}}`;
}

const isMap = (value: readonly SortedJson[] | ReadonlyMap<string, SortedJson>): value is ReadonlyMap<string, SortedJson> =>
  value instanceof Map;

function formatInteger(value: number): string {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is no safe integer`);
  return String(value + 0);
}
