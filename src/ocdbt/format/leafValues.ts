import { column, type Field, oneOf, u8, varint64 } from "../../bytes/fields.js";
import type { ByteReader } from "../../bytes/reader.js";
import type { ByteWriter } from "../../bytes/writer.js";
import type { DataFile } from "./dataFileTable.js";
import { checkReference, fileId, type IndirectReference } from "./indirectReference.js";

/** The value of a key: in the node, or a run of bytes of a data file, without checksum or frame. */
export type LeafValue = { readonly kind: "inline"; readonly bytes: Uint8Array } | ({ readonly kind: "indirect" } & IndirectReference);

/** Longest value within a node, in bytes. */
const longestInline = 1024 * 1024;

const valueKind = oneOf(u8, ["inline", "indirect"]);

/** The value columns of a leaf's `count` entries. */
export const leafValues = (count: number, files: readonly DataFile[]): Field<LeafValue[]> => ({
  read: (reader) => readValues(reader, count, files),
  write: (writer, values) => writeValues(writer, values, files),
});

function readValues(reader: ByteReader, count: number, files: readonly DataFile[]): LeafValue[] {
  const lengths = column(varint64, count).read(reader);
  const kinds = column(valueKind, count).read(reader);
  const indirectCount = kinds.filter((kind) => kind === "indirect").length;
  const fileIds = column(fileId(files), indirectCount).read(reader);
  const offsets = column(varint64, indirectCount).read(reader);
  let nth = 0;
  return lengths.map((length, i) => {
    if (kinds[i] === "inline") return { kind: "inline", bytes: readInline(reader, length) };
    const reference = { fileId: fileIds[nth] ?? 0, offset: offsets[nth] ?? 0n, length };
    nth++;
    checkReference(reader, reference);
    return { kind: "indirect", ...reference };
  });
}

function readInline(reader: ByteReader, length: bigint): Uint8Array {
  if (length > longestInline) throw reader.corrupt(`an inline value of at most ${longestInline} bytes`, `${length}`);
  return reader.bytes(Number(length));
}

function writeValues(writer: ByteWriter, values: readonly LeafValue[], files: readonly DataFile[]): void {
  const indirect = values.filter((value) => value.kind === "indirect");
  for (const value of values) varint64.write(writer, value.kind === "inline" ? BigInt(value.bytes.length) : value.length);
  for (const value of values) valueKind.write(writer, value.kind);
  for (const value of indirect) fileId(files).write(writer, value.fileId);
  for (const value of indirect) varint64.write(writer, value.offset);
  for (const value of values) if (value.kind === "inline") writer.bytes(value.bytes);
}
