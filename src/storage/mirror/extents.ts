import { type ByteRange, endOf } from "../../bytes/ranges.js";

/** Bytes are asked for and kept in parts that end where these blocks do, in bytes: few files, and little memory. */
export const blockLength = 4 * 1024 * 1024;

/** The number of the block in which a byte lies. */
export const blockAt = (offset: number): number => Math.floor(offset / blockLength);

/** A range cut where blocks of a file end, in order. */
export function blocksOf(range: ByteRange): ByteRange[] {
  const parts: ByteRange[] = [];
  for (let { offset } = range; offset < endOf(range); ) {
    const end = Math.min(endOf(range), (blockAt(offset) + 1) * blockLength);
    parts.push({ offset, length: end - offset });
    offset = end;
  }
  return parts;
}

/** A part of a range, and the extent that has it; undefined where none has. */
export interface Piece extends ByteRange {
  readonly extent: ByteRange | undefined;
}

/** A range in pieces that lie in one of the extents or in none, in order and as long as they can be. Extents may overlap. */
export function cutRange(range: ByteRange, extents: readonly ByteRange[]): Piece[] {
  const pieces: Piece[] = [];
  for (let { offset } = range; offset < endOf(range); ) {
    const extent = furthest(extents.filter((one) => one.offset <= offset && endOf(one) > offset));
    const next = extent ? endOf(extent) : Math.min(...extents.map((one) => one.offset).filter((start) => start > offset), endOf(range));
    const end = Math.min(next, endOf(range));
    pieces.push({ offset, length: end - offset, extent });
    offset = end;
  }
  return pieces;
}

const furthest = (extents: readonly ByteRange[]): ByteRange | undefined =>
  extents.reduce<ByteRange | undefined>((best, one) => (best !== undefined && endOf(best) >= endOf(one) ? best : one), undefined);

/** The name of the file that keeps an extent: whose it is, where it begins and how long it is. */
export const extentName = (id: string, { offset, length }: ByteRange): string => `${id}.${offset}-${length}`;

/** The name of the file that keeps an extent while it grows: as many bytes as are in it. */
export const growingName = (id: string, offset: number): string => `${id}.${offset}.growing`;

/** What such a name says; undefined for any other file. */
export function parseGrowingName(name: string): { readonly id: string; readonly offset: number } | undefined {
  const [, id, start] = /^([0-9a-f]{16})\.(\d{1,16})\.growing$/.exec(name) ?? [];
  const offset = Number(start);
  return id !== undefined && Number.isSafeInteger(offset) ? { id, offset } : undefined;
}

/** What a name says; undefined for any other file. */
export function parseExtentName(name: string): (ByteRange & { readonly id: string }) | undefined {
  const [, id, start, count] = /^([0-9a-f]{16})\.(\d{1,16})-(\d{1,16})$/.exec(name) ?? [];
  const [offset, length] = [Number(start), Number(count)];
  return id !== undefined && Number.isSafeInteger(offset + length) && length > 0 ? { id, offset, length } : undefined;
}
