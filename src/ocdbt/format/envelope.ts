import { crc32c } from "../../bytes/crc32c.js";
import type { Field } from "../../bytes/fields.js";
import { ByteReader, type ReaderPlace } from "../../bytes/reader.js";
import { ByteWriter } from "../../bytes/writer.js";
import { zstd } from "../../codecs/zstd.js";
import type { CorruptCheckpointError } from "../../errors.js";
import type { TaskContext } from "../../tasks/context.js";

/** The three kinds of record that stand in an envelope, and the bytes that each begins with. */
export const magics = { manifest: 0x0cdb3a2a, "B+tree node": 0x0cdb20de, "version-tree node": 0x0cdb1234 } as const;

/** A record that stands in an envelope. */
export type RecordKind = keyof typeof magics;

/** How the body of an envelope is stored; the index is its number in the file. */
const compressions = ["none", "zstd"] as const;

/** An envelope without its frame: `body` is still compressed. */
export interface Envelope {
  readonly compression: (typeof compressions)[number];
  readonly body: Uint8Array;
}

/**
 * Most bytes of a record, compressed or not. TensorStore splits nodes at `max_decoded_node_bytes` (100,000,000 in Orbax's
 * databases, by an estimate that lies above the encoded size); this leaves room for one more entry of a megabyte.
 */
export const largestRecord = 128 * 1024 * 1024;

const checksumBytes = 4;

/**
 * Takes a record out of its envelope: magic, length, checksum (CRC-32C of all before it), version, compression.
 * @throws CorruptCheckpointError where one of them is wrong; nothing behind the length is believed before the checksum is right.
 */
export function openEnvelope(kind: RecordKind, bytes: Uint8Array, place: ReaderPlace): Envelope {
  const reader = new ByteReader(bytes, place);
  checkMagic(reader, kind);
  const length = reader.u64le();
  if (length !== BigInt(bytes.length)) throw reader.corrupt(`a ${kind} of ${length} bytes, as its header says`, `${bytes.length} bytes`);
  checkChecksum(reader, kind, bytes);
  const version = reader.varint(32);
  if (version !== 0) throw reader.corrupt(`version 0 of a ${kind}`, `version ${version}`);
  const number = reader.varint(32);
  const compression = compressions[number];
  if (compression === undefined) throw reader.corrupt("compression 0 (none) or 1 (zstd)", `${number}`);
  return { compression, body: reader.bytes(reader.remaining - checksumBytes) };
}

/** Puts a body, compressed as it says, into an envelope. */
export function sealEnvelope(kind: RecordKind, { compression, body }: Envelope): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter();
  writer.u32be(magics[kind]);
  writer.u64le(BigInt(14 + body.length + checksumBytes));
  writer.varint(0, 32);
  writer.varint(compressions.indexOf(compression), 32);
  writer.bytes(body);
  writer.u32le(crc32c(writer.toBytes()));
  return writer.toBytes();
}

/** A record of this kind in its envelope → the record; the body is decompressed and must be used up exactly. */
export async function openRecord<Record>(
  kind: RecordKind,
  field: Field<Record>,
  bytes: Uint8Array,
  place: ReaderPlace,
  context?: TaskContext,
): Promise<Record> {
  const envelope = openEnvelope(kind, bytes, place);
  const bodyOffset = place.offset + bytes.length - checksumBytes - envelope.body.length;
  const { body, decompressed } = await decompress(envelope, place.path, bodyOffset, context);
  return readBody(field, body, { path: place.path, offset: bodyOffset, decompressed });
}

/** The bare body of a record → the record. */
export function readBody<Record>(field: Field<Record>, body: Uint8Array, place: ReaderPlace): Record {
  const reader = new ByteReader(body, place);
  const record = field.read(reader);
  reader.end();
  return record;
}

/** A record → its bare body, the bytes of which are TensorStore's. */
export function writeBody<Record>(field: Field<Record>, record: Record): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter();
  field.write(writer, record);
  return writer.toBytes();
}

/** A record → its envelope, uncompressed. */
export const sealRecord = <Record>(kind: RecordKind, field: Field<Record>, record: Record): Uint8Array<ArrayBuffer> =>
  sealEnvelope(kind, { compression: "none", body: writeBody(field, record) });

function checkMagic(reader: ByteReader, kind: RecordKind): void {
  if (reader.remaining < 16) throw reader.corrupt(`a ${kind}, which has 16 bytes or more`, `${reader.remaining} bytes`);
  const magic = reader.u32be();
  if (magic === magics[kind]) return;
  throw wrongMagic(reader, kind, magic);
}

function wrongMagic(reader: ByteReader, kind: RecordKind, magic: number): CorruptCheckpointError {
  const other = Object.entries(magics).find(([, value]) => value === magic)?.[0];
  return reader.corrupt(`a ${kind} of OCDBT, which begins with ${hex(magics[kind])}`, other === undefined ? hex(magic) : `a ${other}`);
}

function checkChecksum(reader: ByteReader, kind: RecordKind, bytes: Uint8Array): void {
  const end = bytes.length - checksumBytes;
  const stored = new DataView(bytes.buffer, bytes.byteOffset + end, checksumBytes).getUint32(0, true);
  const computed = crc32c(bytes.subarray(0, end));
  if (stored !== computed) throw reader.corrupt(`a ${kind} with CRC-32C ${hex(stored)}`, `bytes with ${hex(computed)}`);
}

async function decompress(
  { compression, body }: Envelope,
  path: string,
  offset: number,
  context?: TaskContext,
): Promise<{ readonly body: Uint8Array; readonly decompressed: boolean }> {
  switch (compression) {
    case "none":
      return { body, decompressed: false };
    case "zstd":
      return { body: await zstd.decode(body, { longestDecoded: largestRecord, path, offset }, context), decompressed: true };
    default:
      return compression satisfies never;
  }
}

const hex = (value: number) => `0x${value.toString(16).padStart(8, "0")}`;
