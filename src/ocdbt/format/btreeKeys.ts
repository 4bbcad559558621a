import { commonPrefixLength } from "../../bytes/compare.js";
import { column, type Field, varint16 } from "../../bytes/fields.js";
import type { ByteReader } from "../../bytes/reader.js";
import type { ByteWriter } from "../../bytes/writer.js";

/** Key of an entry, relative to the node; the two kinds of node share its columns. */
export interface BtreeKey {
  readonly key: Uint8Array;
  /** How much of `key` all keys of the subtree share, and leave out: 0 in leaves, where it is not stored. */
  readonly subtreeCommonPrefixLength: number;
}

/** Longest key, in bytes. */
const longestKey = 65535;

/** Most bytes of all keys of a node together: prefixes are shared, so few bytes could ask for many. */
const longestKeys = 128 * 1024 * 1024;

/** The key columns of `count` entries, the first of a node's columns; `inLeaf` leaves out what only interior nodes have. */
export const btreeKeys = (count: number, inLeaf: boolean): Field<BtreeKey[]> => ({
  read: (reader) => readKeys(reader, count, inLeaf),
  write: (writer, keys) => writeKeys(writer, keys, inLeaf),
});

function readKeys(reader: ByteReader, count: number, inLeaf: boolean): BtreeKey[] {
  const prefixes = [0, ...column(varint16, count - 1).read(reader)];
  const suffixes = column(varint16, count).read(reader);
  const subtrees = inLeaf ? [] : column(varint16, count).read(reader);
  let total = 0;
  for (const [i, suffix] of suffixes.entries()) total += suffix + (prefixes[i] ?? 0);
  if (total > longestKeys) throw reader.corrupt(`keys of at most ${longestKeys} bytes together`, `${total}`);
  let previous: Uint8Array | undefined;
  return suffixes.map((suffix, i) => {
    previous = readKey(reader, previous, prefixes[i] ?? 0, suffix);
    return { key: previous, subtreeCommonPrefixLength: checkSubtree(reader, subtrees[i] ?? 0, previous) };
  });
}

function readKey(reader: ByteReader, previous: Uint8Array | undefined, prefix: number, suffixLength: number): Uint8Array {
  const longestPrefix = previous?.length ?? 0;
  if (prefix > longestPrefix) throw reader.corrupt(`at most ${longestPrefix} bytes shared with the key before`, `${prefix}`);
  if (prefix + suffixLength > longestKey) throw reader.corrupt(`a key of at most ${longestKey} bytes`, `${prefix + suffixLength}`);
  const key = new Uint8Array(prefix + suffixLength);
  key.set(previous?.subarray(0, prefix) ?? []);
  key.set(reader.bytes(suffixLength), prefix);
  // Both begin with `prefix` bytes, so the rest decides.
  if (previous !== undefined && !ascends(previous, key, prefix)) throw reader.corrupt("keys in ascending order", "another order");
  return key;
}

function ascends(previous: Uint8Array, key: Uint8Array, shared: number): boolean {
  const at = shared + commonPrefixLength(previous.subarray(shared), key.subarray(shared));
  return (previous[at] ?? -1) < (key[at] ?? -1);
}

function checkSubtree(reader: ByteReader, length: number, key: Uint8Array): number {
  if (length > key.length) throw reader.corrupt(`a subtree's prefix within the ${key.length} bytes of its key`, `${length}`);
  return length;
}

function writeKeys(writer: ByteWriter, keys: readonly BtreeKey[], inLeaf: boolean): void {
  const prefixes = keys.map(({ key }, i) => commonPrefixLength(keys[i - 1]?.key ?? new Uint8Array(), key));
  for (const prefix of prefixes.slice(1)) varint16.write(writer, prefix);
  for (const [i, { key }] of keys.entries()) varint16.write(writer, key.length - (prefixes[i] ?? 0));
  if (!inLeaf) for (const { subtreeCommonPrefixLength } of keys) varint16.write(writer, subtreeCommonPrefixLength);
  for (const [i, { key }] of keys.entries()) writer.bytes(key.subarray(prefixes[i]));
}
