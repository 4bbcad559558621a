import { ByteStrings } from "../../bytes/byteStrings.js";
import { commonPrefixLength } from "../../bytes/compare.js";
import type { Field } from "../../bytes/fields.js";
import { varint16 } from "../../bytes/fields.js";
import type { ByteReader } from "../../bytes/reader.js";
import type { ByteWriter } from "../../bytes/writer.js";

/** Keys of a node's entries, relative to the node; the two kinds of node share these columns. */
export interface BtreeKeys {
  /** Ascending, bytewise. */
  readonly keys: ByteStrings;
  /** How much of each key all keys of its subtree share, and leave out; empty in leaves, which have none. */
  readonly subtreeCommonPrefixLengths: readonly number[];
}

/** Longest key, in bytes. */
export const longestKey = 65535;

/** Most bytes of all keys of a node together: prefixes are shared, so few bytes could ask for many. */
const longestKeys = 128 * 1024 * 1024;

/** The key columns of `count` entries, the first of a node's columns; `inLeaf` leaves out what only interior nodes have. */
export const btreeKeys = (count: number, inLeaf: boolean): Field<BtreeKeys> => ({
  read: (reader) => readKeys(reader, count, inLeaf),
  write: (writer, keys) => writeKeys(writer, keys, inLeaf),
});

function readKeys(reader: ByteReader, count: number, inLeaf: boolean): BtreeKeys {
  const prefixes = new Uint32Array(count);
  prefixes.set(reader.varints(16, count - 1), 1);
  const suffixes = reader.varints(16, count);
  const subtrees = inLeaf ? [] : Array.from(reader.varints(16, count));
  const { ends, suffixBytes } = endsOf(reader, prefixes, suffixes);
  const bytes = readSuffixes(reader, prefixes, ends, suffixBytes);
  for (const [index, length] of subtrees.entries()) {
    const keyLength = lengthAt(ends, index);
    if (length > keyLength) throw reader.corrupt(`a subtree's prefix within the ${keyLength} bytes of its key`, `${length}`);
  }
  return { keys: new ByteStrings(bytes, ends), subtreeCommonPrefixLengths: subtrees };
}

/** Where each key ends, and the bytes of all suffixes, once all lengths are believable. */
function endsOf(reader: ByteReader, prefixes: Uint32Array, suffixes: Uint32Array) {
  const ends = new Uint32Array(suffixes.length);
  let end = 0;
  let suffixBytes = 0;
  let previous = 0;
  for (let index = 0; index < ends.length; index++) {
    const prefix = prefixes[index] ?? 0;
    const suffix = suffixes[index] ?? 0;
    if (prefix > previous) throw reader.corrupt(`at most ${previous} bytes shared with the key before`, `${prefix}`);
    previous = prefix + suffix;
    if (previous > longestKey) throw reader.corrupt(`a key of at most ${longestKey} bytes`, `${previous}`);
    suffixBytes += suffix;
    end += previous;
    if (end > longestKeys) throw reader.corrupt(`keys of at most ${longestKeys} bytes together`, "more");
    ends[index] = end;
  }
  if (suffixBytes > reader.remaining) throw reader.corrupt(`${suffixBytes} bytes of keys`, `the end after ${reader.remaining}`);
  return { ends, suffixBytes };
}

/** All keys, one behind the other: each begins with bytes of the one before. */
function readSuffixes(reader: ByteReader, prefixes: Uint32Array, ends: Uint32Array, suffixBytes: number): Uint8Array {
  const suffixes = reader.bytes(suffixBytes);
  const bytes = new Uint8Array(ends.at(-1) ?? 0);
  let previous = 0;
  let start = 0;
  let taken = 0;
  for (let index = 0; index < ends.length; index++) {
    const end = ends[index] ?? 0;
    const shared = start + (prefixes[index] ?? 0);
    // Byte by byte, since keys are short: views of them would be more than they.
    for (let at = start; at < shared; at++) bytes[at] = bytes[previous + at - start] ?? 0;
    for (let at = shared; at < end; at++) bytes[at] = suffixes[taken++] ?? 0;
    // Both begin with the same bytes, so the rest decides.
    if (index > 0 && !ascends(bytes, previous + shared - start, shared, start, end)) {
      throw reader.corrupt("keys in ascending order", "another order");
    }
    previous = start;
    start = end;
  }
  return bytes;
}

/** Whether the bytes from `first` to `middle` come before those from `second` to `end`; the key that `second` lies in begins at `middle`. */
function ascends(bytes: Uint8Array, first: number, second: number, middle: number, end: number): boolean {
  let shared = 0;
  while (first + shared < middle && second + shared < end && bytes[first + shared] === bytes[second + shared]) shared++;
  if (second + shared === end) return false;
  return first + shared === middle || (bytes[first + shared] ?? 0) < (bytes[second + shared] ?? 0);
}

const lengthAt = (ends: Uint32Array, index: number): number => (ends[index] ?? 0) - (index === 0 ? 0 : (ends[index - 1] ?? 0));

function writeKeys(writer: ByteWriter, { keys, subtreeCommonPrefixLengths }: BtreeKeys, inLeaf: boolean): void {
  const prefixes = Array.from(keys, (key, i) => (i === 0 ? 0 : commonPrefixLength(keys.at(i - 1), key)));
  for (const prefix of prefixes.slice(1)) varint16.write(writer, prefix);
  for (const [i, prefix] of prefixes.entries()) varint16.write(writer, keys.at(i).length - prefix);
  if (!inLeaf) for (const length of subtreeCommonPrefixLengths) varint16.write(writer, length);
  for (const [i, prefix] of prefixes.entries()) writer.bytes(keys.at(i).subarray(prefix));
}
