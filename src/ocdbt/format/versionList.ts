import { columns, type Field, type Fields, u8, u64le, varint64 } from "../../bytes/fields.js";
import type { ByteReader } from "../../bytes/reader.js";
import type { DataFile } from "./dataFileTable.js";
import {
  checkReference,
  type IndirectReference,
  isMissing,
  referenceFields,
  statisticsFields,
  type TreeStatistics,
} from "./indirectReference.js";

/** One commit of a database: its number, when it was made, and the root of its tree. */
export interface Version extends IndirectReference, TreeStatistics {
  /** 1 or more; ascending within a list. */
  readonly generation: bigint;
  /** Height of the root node; 0 for a leaf, and where there is no root. */
  readonly rootHeight: number;
  /** Nanoseconds since the Unix epoch. */
  readonly commitTime: bigint;
}

/** The versions that one leaf of the version tree holds, or the manifest: 1 to 2^arityLog2, ascending. */
export const versionList = (arityLog2: number, files: readonly DataFile[]): Field<readonly Version[]> => ({
  read(reader) {
    const most = 2 ** arityLog2;
    const count = reader.checkCount(varint64.read(reader), "versions", most, 16);
    if (count === 0) throw reader.corrupt("a version", "none");
    const versions = columns(versionFields(files), count).read(reader);
    for (const [i, version] of versions.entries()) checkVersion(reader, version, versions[i - 1]);
    checkGroup(reader, versions, BigInt(most));
    return versions;
  },
  write(writer, versions) {
    varint64.write(writer, BigInt(versions.length));
    columns(versionFields(files), versions.length).write(writer, [...versions]);
  },
});

const versionFields = (files: readonly DataFile[]): Fields<Version> => ({
  generation: varint64,
  rootHeight: u8,
  ...referenceFields(files),
  ...statisticsFields,
  commitTime: u64le,
});

function checkVersion(reader: ByteReader, version: Version, previous: Version | undefined): void {
  checkGeneration(reader, version.generation, previous?.generation);
  if (isMissing(version)) checkEmpty(reader, version);
  else checkReference(reader, version);
}

function checkEmpty(reader: ByteReader, { rootHeight, numKeys, numTreeBytes, numIndirectValueBytes }: Version): void {
  if (rootHeight !== 0 || numKeys + numTreeBytes + numIndirectValueBytes > 0n) {
    throw reader.corrupt("height and statistics 0 of a version without root", "others");
  }
}

/** Throws unless the generation is above 0 and above the one before. */
export function checkGeneration(reader: ByteReader, generation: bigint, previous: bigint | undefined): void {
  if (generation <= (previous ?? 0n)) throw reader.corrupt(`a generation above ${previous ?? 0}`, `${generation}`);
}

/** All generations of a list lie in one group of 2^arityLog2; the groups begin at 1. */
function checkGroup(reader: ByteReader, versions: readonly Version[], groupSize: bigint): void {
  const first = versions[0]?.generation ?? 0n;
  const last = versions.at(-1)?.generation ?? 0n;
  const least = last - ((last - 1n) % groupSize);
  if (first < least) throw reader.corrupt(`generations of one group, from ${least} to ${last}`, `${first}`);
}
