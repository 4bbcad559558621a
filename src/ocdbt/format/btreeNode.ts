import { ByteStrings } from "../../bytes/byteStrings.js";
import { columns, type Field, u8, varint32 } from "../../bytes/fields.js";
import type { ByteReader } from "../../bytes/reader.js";
import type { ByteWriter } from "../../bytes/writer.js";
import { btreeKeys } from "./btreeKeys.js";
import { type DataFile, dataFileTable } from "./dataFileTable.js";
import { checkReference, type IndirectReference, referenceFields, statisticsFields, type TreeStatistics } from "./indirectReference.js";
import { LeafEntries } from "./leafEntries.js";
import { leafValues } from "./leafValues.js";

/** The subtree of all keys from this entry's key up to the next entry's: where its node stands, and what lies below it. */
export interface InteriorEntry extends IndirectReference, TreeStatistics {
  /** Relative to the node. */
  readonly key: Uint8Array;
  /** How much of `key` all keys of the subtree share, and leave out. */
  readonly subtreeCommonPrefixLength: number;
}

/** A node of the tree of keys. Entries ascend by key, bytewise; there is at least one. */
export type BtreeNode =
  | { readonly kind: "leaf"; readonly height: 0; readonly files: readonly DataFile[]; readonly entries: LeafEntries }
  | {
      readonly kind: "interior";
      readonly height: number;
      readonly files: readonly DataFile[];
      readonly children: readonly InteriorEntry[];
    };

/** Most entries of a node. */
export const mostEntries = 1024 * 1024;

/** The body of a B+tree node. */
export const btreeNode: Field<BtreeNode> = { read, write };

function read(reader: ByteReader): BtreeNode {
  const height = u8.read(reader);
  const files = dataFileTable.read(reader);
  // Each entry takes a byte or more of each of its columns, but for the first key's shared length.
  const count = reader.checkCount(varint32.read(reader), "entries", mostEntries, height === 0 ? 3 : 8);
  if (count === 0) throw reader.corrupt("a node with an entry", "an empty node");
  if (height === 0) return { kind: "leaf", height, files, entries: readEntries(reader, count, files) };
  return { kind: "interior", height, files, children: readChildren(reader, count, files) };
}

function readEntries(reader: ByteReader, count: number, files: readonly DataFile[]): LeafEntries {
  const { keys } = btreeKeys(count, true).read(reader);
  return new LeafEntries(keys, leafValues(count, files).read(reader));
}

function readChildren(reader: ByteReader, count: number, files: readonly DataFile[]): InteriorEntry[] {
  const { keys, subtreeCommonPrefixLengths } = btreeKeys(count, false).read(reader);
  const references = columns(childFields(files), count).read(reader);
  for (const reference of references) checkReference(reader, reference);
  return references.map((reference, i) => ({
    key: keys.at(i),
    subtreeCommonPrefixLength: subtreeCommonPrefixLengths[i] ?? 0,
    ...reference,
  }));
}

function write(writer: ByteWriter, node: BtreeNode): void {
  u8.write(writer, node.height);
  dataFileTable.write(writer, node.files);
  if (node.kind === "leaf") {
    const { keys, values, length } = node.entries;
    varint32.write(writer, length);
    btreeKeys(length, true).write(writer, { keys, subtreeCommonPrefixLengths: [] });
    leafValues(length, node.files).write(writer, values);
  } else {
    const { children } = node;
    const keys = ByteStrings.of(children.map(({ key }) => key));
    const subtreeCommonPrefixLengths = children.map(({ subtreeCommonPrefixLength }) => subtreeCommonPrefixLength);
    varint32.write(writer, children.length);
    btreeKeys(children.length, false).write(writer, { keys, subtreeCommonPrefixLengths });
    columns(childFields(node.files), children.length).write(writer, [...children]);
  }
}

const childFields = (files: readonly DataFile[]) => ({ ...referenceFields(files), ...statisticsFields });
