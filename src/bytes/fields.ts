import type { ByteReader } from "./reader.js";
import type { ByteWriter } from "./writer.js";

/** One part of a record, described once for both directions. */
export interface Field<Value> {
  read(reader: ByteReader): Value;
  write(writer: ByteWriter, value: Value): void;
}

/** The fields of a record's members, in the order they stand in the file. */
export type Fields<Record> = { readonly [Member in keyof Record]: Field<Record[Member]> };

export const u8: Field<number> = { read: (reader) => reader.u8(), write: (writer, value) => writer.u8(value) };

export const i32le: Field<number> = { read: (reader) => reader.i32le(), write: (writer, value) => writer.i32le(value) };

export const u64le: Field<bigint> = { read: (reader) => reader.u64le(), write: (writer, value) => writer.u64le(value) };

export const varint16: Field<number> = { read: (reader) => reader.varint(16), write: (writer, value) => writer.varint(value, 16) };

export const varint32: Field<number> = { read: (reader) => reader.varint(32), write: (writer, value) => writer.varint(value, 32) };

export const varint64: Field<bigint> = { read: (reader) => reader.varint64(), write: (writer, value) => writer.varint64(value) };

/** Exactly `length` bytes; read as a copy, so that a record does not hold its whole file. */
export const rawBytes = (length: number): Field<Uint8Array> => ({
  read: (reader) => reader.bytes(length).slice(),
  write(writer, value) {
    if (value.length !== length) throw new RangeError(`${value.length} bytes do not fit a field of ${length}`);
    writer.bytes(value);
  },
});

/** A field that takes only some values: `expected` says which, in the error for others. */
export const only = <Value>(field: Field<Value>, expected: string, accepts: (value: Value) => boolean): Field<Value> => ({
  read(reader) {
    const value = field.read(reader);
    if (!accepts(value)) throw reader.corrupt(expected, `${value}`);
    return value;
  },
  write(writer, value) {
    if (!accepts(value)) throw new RangeError(`${value} is not ${expected}`);
    field.write(writer, value);
  },
});

/** A number that stands for one of the words: its index. */
export const oneOf = <const Word extends string>(field: Field<number>, words: readonly Word[]): Field<Word> => ({
  read(reader) {
    const index = field.read(reader);
    const word = words[index];
    if (word === undefined) throw reader.corrupt(words.map((name, i) => `${i} (${name})`).join(" or "), `${index}`);
    return word;
  },
  write: (writer, word) => field.write(writer, words.indexOf(word)),
});

/** The members one after another. */
export const record = <Members extends object>(fields: Fields<Members>): Field<Members> => ({
  read: (reader) => mapMembers<Members>(fields, (member) => fields[member].read(reader)),
  write(writer, value) {
    for (const member of membersOf(fields)) fields[member].write(writer, value[member]);
  },
});

/** One field `count` times. The caller has bounded `count` by the bytes that are there. */
export const column = <Value>(field: Field<Value>, count: number): Field<Value[]> => ({
  read(reader) {
    const values: Value[] = [];
    for (let index = 0; index < count; index++) values.push(field.read(reader));
    return values;
  },
  write(writer, values) {
    if (values.length !== count) throw new RangeError(`${values.length} values do not fit a column of ${count}`);
    for (const value of values) field.write(writer, value);
  },
});

/** `count` rows, stored as one column a member. The caller has bounded `count` by the bytes that are there. */
export const columns = <Row extends object>(fields: Fields<Row>, count: number): Field<Row[]> => ({
  read(reader) {
    const stored = mapMembers<{ [Member in keyof Row]: Row[Member][] }>(fields, (member) => column(fields[member], count).read(reader));
    return Array.from({ length: count }, (_, i) => mapMembers<Row>(fields, (member) => stored[member][i] as Row[typeof member]));
  },
  write(writer, rows) {
    for (const member of membersOf(fields)) {
      const values = rows.map((row) => row[member]);
      column(fields[member], count).write(writer, values);
    }
  },
});

const membersOf = <Members extends object>(fields: { readonly [Member in keyof Members]: unknown }) =>
  Object.keys(fields) as (keyof Members)[];

function mapMembers<Members extends object>(
  fields: { readonly [Member in keyof Members]: unknown },
  value: <Member extends keyof Members>(member: Member) => Members[Member],
): Members {
  return Object.fromEntries(membersOf<Members>(fields).map((member) => [member, value(member)])) as Members;
}
