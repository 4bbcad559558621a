import { type Field, type Fields, only, varint64 } from "../../bytes/fields.js";
import type { ByteReader } from "../../bytes/reader.js";
import type { DataFile } from "./dataFileTable.js";

/** A run of bytes of a data file. */
export interface IndirectReference extends ReferencedBytes {
  /** Index into the record's data file table. */
  readonly fileId: number;
}

/** Where in its file a run of bytes lies. */
interface ReferencedBytes {
  readonly offset: bigint;
  /** In bytes. */
  readonly length: bigint;
}

/** What a node says of all that lies below it; TensorStore does not check it, and neither does this package. */
export interface TreeStatistics {
  readonly numKeys: bigint;
  readonly numTreeBytes: bigint;
  readonly numIndirectValueBytes: bigint;
}

const missing = 2n ** 64n - 1n;

/** Offset and length of a tree that has no root. */
export const missingRange = { offset: missing, length: missing } as const;

/** Whether the reference stands for nothing. */
export const isMissing = ({ offset, length }: IndirectReference): boolean => offset === missing && length === missing;

/** An index into the record's data file table. */
export const fileId = (files: readonly DataFile[]): Field<number> => {
  const index = only(varint64, `an index of one of ${files.length} data files`, (value) => value < files.length);
  return { read: (reader) => Number(index.read(reader)), write: (writer, value) => index.write(writer, BigInt(value)) };
};

/** The columns of references into `files`. */
export const referenceFields = (files: readonly DataFile[]): Fields<IndirectReference> => ({
  fileId: fileId(files),
  offset: varint64,
  length: varint64,
});

/** The columns of the statistics. */
export const statisticsFields: Fields<TreeStatistics> = {
  numKeys: varint64,
  numTreeBytes: varint64,
  numIndirectValueBytes: varint64,
};

const end = 2n ** 63n;

/** Throws where a reference ends above 2^63 - 1, as TensorStore does. */
export function checkReference(reader: ByteReader, { offset, length }: ReferencedBytes): void {
  if (offset + length >= end) throw reader.corrupt("a range that ends below 2^63", `offset ${offset}, length ${length}`);
}
