// @ts-check
/**
 * One page of a bucket's keys, and of what they have in common up to the delimiter, in the order of keys.
 * @param {readonly string[]} keys
 * @param {{ prefix: string, delimiter: string, after: string, pageSize: number }} asked `after`: the last entry of the page before.
 */
export function page(keys, { prefix, delimiter, after, pageSize }) {
  /** @type {Map<string, { key: string, isPrefix: boolean }>} */
  const found = new Map();
  for (const key of [...keys].sort()) {
    if (!key.startsWith(prefix)) continue;
    const end = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
    const entry = end < 0 ? key : key.slice(0, end + delimiter.length);
    if (entry > after) found.set(entry, { key: entry, isPrefix: end >= 0 });
  }
  const all = [...found.values()];
  const entries = all.slice(0, pageSize);
  return { entries, last: entries.at(-1)?.key ?? "", truncated: all.length > pageSize };
}
