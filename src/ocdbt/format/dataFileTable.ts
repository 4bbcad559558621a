import { commonPrefixLength } from "../../bytes/compare.js";
import { column, type Field, varint16, varint64 } from "../../bytes/fields.js";
import type { ByteReader } from "../../bytes/reader.js";
import type { ByteWriter } from "../../bytes/writer.js";

/** A data file, relative to the folder of the database and what led to the record: base, then relative path. */
export interface DataFile {
  /** `""`, or what nodes in the file put before their own paths, such as `"ocdbt.process_0/"`. */
  readonly basePath: string;
  /** Such as `"d/c73ccf67375b3eac3bdb9d79349b2a47"`; empty where the entry stands for no file at all. */
  readonly relativePath: string;
}

/** Longest path, in bytes. */
export const longestPath = 65535;

/** Most bytes of all paths of one table together: prefixes are shared, so few bytes could ask for many. */
const longestTable = 64 * 1024 * 1024;

/** A path as it is stored: its length of the base, and what it shares with the path before. */
interface StoredPath {
  readonly prefix: number;
  readonly suffix: number;
  readonly base: number;
}

/**
 * The data files that a record refers to by index, column by column, with shared prefixes. TensorStore writes them sorted and
 * without duplicates; both is the caller's part.
 */
export const dataFileTable: Field<readonly DataFile[]> = { read, write };

function read(reader: ByteReader): readonly DataFile[] {
  const paths = readLengths(reader);
  let whole = new Uint8Array();
  return paths.map((stored) => {
    whole = join(whole.subarray(0, stored.prefix), reader.bytes(stored.suffix));
    const file = { basePath: textOf(reader, whole.subarray(0, stored.base)), relativePath: textOf(reader, whole.subarray(stored.base)) };
    const path = file.basePath + file.relativePath;
    if (path !== "" && !isInside(path)) throw reader.corrupt("a path inside the database's folder", JSON.stringify(path));
    return file;
  });
}

/**
 * Whether a path stays in its folder: relative, no empty part, no `.`, no `..`. The format allows any path, Orbax writes only
 * such ones, and a checkpoint from elsewhere must not reach for other files; a backslash parts paths, too, on Windows.
 */
export function isInside(path: string): boolean {
  const parts = path.split("/");
  return parts.every((part) => part !== "" && part !== ".") && !path.split(/[\\/]/).includes("..") && !/^(\\|[a-z]:|.*\0)/is.test(path);
}

function readLengths(reader: ByteReader): StoredPath[] {
  const count = reader.checkCount(varint64.read(reader), "data files", Number.MAX_SAFE_INTEGER, 2);
  const lengths = column(varint16, count);
  const prefixes = [0, ...column(varint16, Math.max(count - 1, 0)).read(reader)];
  const suffixes = lengths.read(reader);
  const bases = lengths.read(reader);
  let total = 0;
  const paths = bases.map((base, i) => {
    const path = { prefix: prefixes[i] ?? 0, suffix: suffixes[i] ?? 0, base };
    total += path.prefix + path.suffix;
    return path;
  });
  if (total > longestTable) throw reader.corrupt(`paths of at most ${longestTable} bytes together`, `${total}`);
  for (const [i, path] of paths.entries()) checkLengths(reader, path, paths[i - 1]);
  return paths;
}

function checkLengths(reader: ByteReader, { prefix, suffix, base }: StoredPath, previous: StoredPath | undefined): void {
  const length = prefix + suffix;
  const previousBase = previous?.base ?? 0;
  const previousLength = previous === undefined ? 0 : previous.prefix + previous.suffix;
  if (length > longestPath) throw reader.corrupt(`a path of at most ${longestPath} bytes`, `${length}`);
  if (base > length) throw reader.corrupt(`a base path within the ${length} bytes of its path`, `${base}`);
  const longestShared = base === previousBase ? previousLength : Math.min(base, previousBase);
  if (prefix > longestShared) throw reader.corrupt(`at most ${longestShared} bytes shared with the path before`, `${prefix}`);
}

function write(writer: ByteWriter, files: readonly DataFile[]): void {
  const paths = files.map(({ basePath, relativePath }) => [bytesOf(basePath), bytesOf(relativePath)] as const);
  const prefixes = paths.map((path, i) => sharedLength(paths[i - 1], path));
  const suffixes = paths.map(([base, relative], i) => join(base, relative).subarray(prefixes[i]));
  varint64.write(writer, BigInt(files.length));
  for (const prefix of prefixes.slice(1)) varint16.write(writer, prefix);
  for (const suffix of suffixes) varint16.write(writer, suffix.length);
  for (const [base] of paths) varint16.write(writer, base.length);
  for (const suffix of suffixes) writer.bytes(suffix);
}

type PathBytes = readonly [base: Uint8Array, relative: Uint8Array];

/** What TensorStore shares: of the base paths, and of the relative ones only where the base paths are equal. */
function sharedLength(previous: PathBytes | undefined, [base, relative]: PathBytes): number {
  if (previous === undefined) return 0;
  const shared = commonPrefixLength(previous[0], base);
  const sameBase = shared === base.length && shared === previous[0].length;
  return sameBase ? shared + commonPrefixLength(previous[1], relative) : shared;
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

const bytesOf = (text: string) => new TextEncoder().encode(text);

function textOf(reader: ByteReader, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw reader.corrupt("a path in UTF-8", "other bytes", cause);
  }
}
