import { columns, type Field, u8, varint32 } from "../../bytes/fields.js";
import type { ByteReader } from "../../bytes/reader.js";
import type { ByteWriter } from "../../bytes/writer.js";
import { type BtreeKey, btreeKeys } from "./btreeKeys.js";
import { type DataFile, dataFileTable } from "./dataFileTable.js";
import { checkReference, type IndirectReference, referenceFields, statisticsFields, type TreeStatistics } from "./indirectReference.js";
import { type LeafValue, leafValues } from "./leafValues.js";

/** A key, relative to its node, and its value. */
export interface LeafEntry {
  readonly key: Uint8Array;
  readonly value: LeafValue;
}

/** The subtree of all keys from this entry's key up to the next entry's: where its node stands, and what lies below it. */
export interface InteriorEntry extends BtreeKey, IndirectReference, TreeStatistics {}

/** A node of the tree of keys. Entries ascend by key, bytewise; there is at least one. */
export type BtreeNode =
  | { readonly kind: "leaf"; readonly height: 0; readonly files: readonly DataFile[]; readonly entries: readonly LeafEntry[] }
  | {
      readonly kind: "interior";
      readonly height: number;
      readonly files: readonly DataFile[];
      readonly children: readonly InteriorEntry[];
    };

/** Most entries of a node. */
const mostEntries = 1024 * 1024;

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

function readEntries(reader: ByteReader, count: number, files: readonly DataFile[]): LeafEntry[] {
  const keys = btreeKeys(count, true).read(reader);
  return leafValues(count, files)
    .read(reader)
    .map((value, i) => ({ key: keys[i]?.key ?? new Uint8Array(), value }));
}

function readChildren(reader: ByteReader, count: number, files: readonly DataFile[]): InteriorEntry[] {
  const keys = btreeKeys(count, false).read(reader);
  const references = columns(childFields(files), count).read(reader);
  for (const reference of references) checkReference(reader, reference);
  return references.map((reference, i) => ({ ...(keys[i] ?? noKey), ...reference }));
}

function write(writer: ByteWriter, node: BtreeNode): void {
  u8.write(writer, node.height);
  dataFileTable.write(writer, node.files);
  if (node.kind === "leaf") {
    const keys = node.entries.map(({ key }) => ({ ...noKey, key }));
    varint32.write(writer, keys.length);
    btreeKeys(keys.length, true).write(writer, keys);
    const values = node.entries.map(({ value }) => value);
    leafValues(values.length, node.files).write(writer, values);
  } else {
    const { children } = node;
    varint32.write(writer, children.length);
    btreeKeys(children.length, false).write(writer, [...children]);
    columns(childFields(node.files), children.length).write(writer, [...children]);
  }
}

const childFields = (files: readonly DataFile[]) => ({ ...referenceFields(files), ...statisticsFields });

const noKey: BtreeKey = { key: new Uint8Array(), subtreeCommonPrefixLength: 0 };
