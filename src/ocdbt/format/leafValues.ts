import { ByteStrings } from "../../bytes/byteStrings.js";
import { type Field, u8, varint64 } from "../../bytes/fields.js";
import type { ByteReader } from "../../bytes/reader.js";
import type { ByteWriter } from "../../bytes/writer.js";
import type { DataFile } from "./dataFileTable.js";
import { checkReference, fileId, type IndirectReference } from "./indirectReference.js";

/** The value of a key: in the node, or a run of bytes of a data file, without checksum or frame. */
export type LeafValue = { readonly kind: "inline"; readonly bytes: Uint8Array } | ({ readonly kind: "indirect" } & IndirectReference);

/** Longest value within a node, in bytes. */
export const longestInline = 1024 * 1024;

/** Numbers of the two kinds in the file. */
const kindNumbers = { inline: 0, indirect: 1 } as const;

/** Columns of as many rows as there are values. */
interface ValueColumns {
  /** -1 where the value is inline. */
  readonly fileIds: Int32Array;
  readonly offsets: BigUint64Array;
  readonly lengths: BigUint64Array;
  /** Empty where the value is indirect. */
  readonly inline: ByteStrings;
}

/** The values of a leaf, column by column as they are stored: an index of many arrays has too many for an object each. */
export class LeafValues implements Iterable<LeafValue> {
  readonly #columns: ValueColumns;

  constructor(columns: ValueColumns) {
    this.#columns = columns;
  }

  /** Copies them. */
  static of(values: readonly LeafValue[]): LeafValues {
    return new LeafValues({
      fileIds: Int32Array.from(values, (value) => (value.kind === "inline" ? -1 : value.fileId)),
      offsets: BigUint64Array.from(values, (value) => (value.kind === "inline" ? 0n : value.offset)),
      lengths: BigUint64Array.from(values, (value) => (value.kind === "inline" ? BigInt(value.bytes.length) : value.length)),
      inline: ByteStrings.of(values.map((value) => (value.kind === "inline" ? value.bytes : new Uint8Array()))),
    });
  }

  get length(): number {
    return this.#columns.fileIds.length;
  }

  /** Bytes of memory, about. */
  get byteLength(): number {
    return this.length * 24 + this.#columns.inline.byteLength;
  }

  /** One of them; the bytes of an inline value are a view. */
  at(index: number): LeafValue {
    const { fileIds, offsets, lengths, inline } = this.#columns;
    const id = fileIds[index] ?? -1;
    if (id < 0) return { kind: "inline", bytes: inline.at(index) };
    return { kind: "indirect", fileId: id, offset: offsets[index] ?? 0n, length: lengths[index] ?? 0n };
  }

  *[Symbol.iterator](): Generator<LeafValue> {
    for (let index = 0; index < this.length; index++) yield this.at(index);
  }
}

/** The value columns of a leaf's `count` entries. */
export const leafValues = (count: number, files: readonly DataFile[]): Field<LeafValues> => ({
  read: (reader) => readValues(reader, count, files),
  write: (writer, values) => writeValues(writer, [...values], files),
});

function readValues(reader: ByteReader, count: number, files: readonly DataFile[]): LeafValues {
  const lengths = reader.varints64(count);
  const kinds = reader.bytes(count);
  const indirectCount = countIndirect(reader, kinds);
  const storedIds = reader.varints64(indirectCount);
  const storedOffsets = reader.varints64(indirectCount);
  const fileIds = new Int32Array(count).fill(-1);
  const offsets = new BigUint64Array(count);
  const inlineEnds = new Uint32Array(count);
  const { remaining } = reader;
  let nth = 0;
  let inlineEnd = 0;
  for (let index = 0; index < count; index++) {
    const length = lengths[index] ?? 0n;
    if (kinds[index] === kindNumbers.inline) {
      inlineEnd += checkInline(reader, Number(length), remaining - inlineEnd);
    } else {
      const offset = storedOffsets[nth] ?? 0n;
      fileIds[index] = checkFileId(reader, Number(storedIds[nth] ?? 0n), files);
      offsets[index] = offset;
      checkReference(reader, { offset, length });
      nth++;
    }
    inlineEnds[index] = inlineEnd;
  }
  return new LeafValues({ fileIds, offsets, lengths, inline: new ByteStrings(reader.bytes(inlineEnd), inlineEnds) });
}

function countIndirect(reader: ByteReader, kinds: Uint8Array): number {
  let count = 0;
  for (const kind of kinds) {
    if (kind > kindNumbers.indirect) throw reader.corrupt("kinds of values of 0 (inline) or 1 (indirect)", `${kind}`);
    count += kind;
  }
  return count;
}

/** The length of an inline value, if `left` bytes have room for it. */
function checkInline(reader: ByteReader, length: number, left: number): number {
  if (length > longestInline) throw reader.corrupt(`an inline value of at most ${longestInline} bytes`, `${length}`);
  if (length > left) throw reader.corrupt(`${length} bytes of an inline value`, `the end after ${left}`);
  return length;
}

function checkFileId(reader: ByteReader, id: number, files: readonly DataFile[]): number {
  if (id >= files.length) throw reader.corrupt(`an index of one of ${files.length} data files`, `${id}`);
  return id;
}

function writeValues(writer: ByteWriter, values: readonly LeafValue[], files: readonly DataFile[]): void {
  const indirect = values.filter((value) => value.kind === "indirect");
  for (const value of values) varint64.write(writer, value.kind === "inline" ? BigInt(value.bytes.length) : value.length);
  for (const value of values) u8.write(writer, kindNumbers[value.kind]);
  for (const value of indirect) fileId(files).write(writer, value.fileId);
  for (const value of indirect) varint64.write(writer, value.offset);
  for (const value of values) if (value.kind === "inline") writer.bytes(value.bytes);
}
