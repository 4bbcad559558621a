import type { Dtype } from "../../arrays/dtypes.js";
import { type ByteRange, endOf, type MergedRange, mergeRanges } from "../../bytes/ranges.js";
import type { ReadableStorage } from "../../storage/storage.js";
import type { ZarrArray } from "../../zarr/openArray.js";
import type { StoredPart } from "./decode/parts.js";
import { type ChunkSource, type LocatedChunk, largestGap } from "./locateChunks.js";

/** An array on its way: its chunks, the dtype it gets, and where its blocks go. */
export interface Transfer<Target = unknown> {
  readonly array: ZarrArray;
  readonly dtype: Dtype;
  /** The item's folder, which the paths of its chunks are relative to. */
  readonly folder: string;
  readonly chunks: readonly LocatedChunk[];
  readonly missingChunksAreLost: boolean;
  readonly target: Target;
  /** One more of its chunks is complete. */
  chunkDone(): void;
}

/** A chunk, and the array that it is of. */
export interface ChunkTransfer<Target = unknown> {
  readonly transfer: Transfer<Target>;
  readonly located: LocatedChunk;
}

/** A chunk whose bytes stand in a range of a file. */
export interface RangeTransfer<Target = unknown> extends ChunkTransfer<Target>, ByteRange {}

/** Chunks of one file that are read together. */
export interface FileRanges<Target> {
  readonly storage: ReadableStorage;
  readonly path: string;
  readonly ranges: readonly RangeTransfer<Target>[];
}

/** A chunk in the index. */
export type InlineChunk<Target> = ChunkTransfer<Target> & { readonly source: ChunkSource & { readonly kind: "inline" } };

/** A chunk that is a file of its own. */
export type FileChunk<Target> = ChunkTransfer<Target> & { readonly source: ChunkSource & { readonly kind: "file" } };

/** All chunks of a restore, by where their bytes are. */
export interface ChunksByPlace<Target> {
  readonly leftOut: readonly ChunkTransfer<Target>[];
  readonly inIndex: readonly InlineChunk<Target>[];
  readonly inRanges: readonly FileRanges<Target>[];
  readonly inFiles: readonly FileChunk<Target>[];
}

/** Sorts all chunks by where their bytes are. */
export function chunksByPlace<Target>(transfers: readonly Transfer<Target>[]): ChunksByPlace<Target> {
  const leftOut: ChunkTransfer<Target>[] = [];
  const inIndex: InlineChunk<Target>[] = [];
  const inFiles: FileChunk<Target>[] = [];
  const files = new Map<ReadableStorage, Map<string, RangeTransfer<Target>[]>>();
  for (const transfer of transfers) {
    for (const located of transfer.chunks) {
      const { source } = located;
      if (source.kind === "range") rangesOf(files, source).push({ ...source.range, transfer, located });
      else if (source.kind === "inline") inIndex.push({ transfer, located, source });
      else if (source.kind === "file") inFiles.push({ transfer, located, source });
      else leftOut.push({ transfer, located });
    }
  }
  const inRanges = Array.from(files).flatMap(([storage, paths]) => Array.from(paths, ([path, ranges]) => ({ storage, path, ranges })));
  return { leftOut, inIndex, inRanges, inFiles };
}

function rangesOf<Target>(
  files: Map<ReadableStorage, Map<string, RangeTransfer<Target>[]>>,
  { storage, path }: ChunkSource & { kind: "range" },
): RangeTransfer<Target>[] {
  const paths = files.get(storage) ?? new Map<string, RangeTransfer<Target>[]>();
  files.set(storage, paths);
  const ranges = paths.get(path) ?? [];
  paths.set(path, ranges);
  return ranges;
}

/** Whether a chunk decodes in pieces by itself, on workers where there are some; others need the zarr layer. */
export const decodesInParts = ({ array: { codec, streamable } }: Transfer, hasZstd: boolean): boolean =>
  streamable && (codec === "none" || (codec === "zstd" && hasZstd));

/** The part that is a whole chunk, or the run of it that is needed. */
export function wholePart({ transfer: { array, dtype }, located: { elementOffset }, offset, length }: RangeTransfer): StoredPart {
  const { spec, stored, codec, chunkByteLength } = array;
  return {
    offset,
    length,
    codec: codec === "zstd" ? "zstd" : "none",
    decodedLength: elementOffset === undefined ? chunkByteLength : length,
    elementOffset: elementOffset ?? 0,
    storedDtype: spec.dtype,
    byteOrder: stored.byteOrder,
    dtype,
  };
}

/** Bytes of the longest run: one request of a web server, and short enough that workers share a file. */
export const runLength = { least: 8 * 1024 * 1024, most: 16 * 1024 * 1024, runsPerFile: 4 };

/**
 * Joins neighbouring ranges of a file that comes as streams, one request a run. Ranges of a sound index do not overlap; one that does is read
 * by itself.
 */
export function streamRuns<Range extends ByteRange>(ranges: readonly Range[]): MergedRange<Range>[] {
  const sorted = [...ranges].sort((a, b) => a.offset - b.offset);
  const inOrder: Range[] = [];
  const apart: Range[] = [];
  let end = 0;
  for (const range of sorted) {
    (range.offset < end ? apart : inOrder).push(range);
    end = Math.max(end, endOf(range));
  }
  const total = inOrder.reduce((sum, { length }) => sum + length, 0);
  const longest = inOrder.reduce((most, { length }) => Math.max(most, length), 0);
  const longestRun = Math.max(runLength.least, Math.min(runLength.most, total / runLength.runsPerFile + longest));
  const alone = apart.map((range) => ({ offset: range.offset, length: range.length, members: [range] }));
  return [...mergeRanges(inOrder, { largestGap, longestRun }), ...alone];
}

/** Decoded bytes of the shortest share of a file that workers read themselves. */
const shortestShare = 4 * 1024 * 1024;

/** Some parts of a file. */
export interface PartsOfFile<File, Part> {
  readonly file: File;
  readonly parts: readonly Part[];
}

/** A part of which is known how long it is, and where it stands. */
interface KnownPart {
  readonly stored: Pick<StoredPart, "offset" | "decodedLength">;
}

/**
 * Deals parts of files that workers read themselves, file by file and there by ascending offset. Each share is one of what is left, so that
 * workers ask seldom at first, and all end together.
 */
export function fileShares<File, Part extends KnownPart>(
  files: readonly PartsOfFile<File, Part>[],
  workers: number,
): PartsOfFile<File, Part>[] {
  const shares: { readonly file: File; readonly parts: Part[] }[] = [];
  let rest = files.flatMap(({ parts }) => parts).reduce((sum, { stored }) => sum + stored.decodedLength, 0);
  for (const { file, parts } of longestFirst(files)) {
    let left = 0;
    for (const part of [...parts].sort((a, b) => a.stored.offset - b.stored.offset)) {
      const { decodedLength } = part.stored;
      if (left < decodedLength) {
        shares.push({ file, parts: [] });
        left = Math.max(shortestShare, rest / (2 * workers));
      }
      shares.at(-1)?.parts.push(part);
      left -= decodedLength;
      rest -= decodedLength;
    }
  }
  return shares;
}

/** Those with the longest parts first: one worker decodes a part, and would still be at it when the others have ended. */
export function longestFirst<Member extends { readonly parts: readonly KnownPart[] }>(members: readonly Member[]): Member[] {
  const longest = ({ parts }: Member) => parts.reduce((most, { stored }) => Math.max(most, stored.decodedLength), 0);
  return members
    .map((member) => ({ member, length: longest(member) }))
    .sort((a, b) => b.length - a.length)
    .map(({ member }) => member);
}

/** Members by the folder of their item, which the paths of their errors begin with. */
export function byFolder<Member extends { readonly parts: readonly { readonly chunk: ChunkTransfer }[] }>(
  members: readonly Member[],
): Member[][] {
  const folders = new Map<string, Member[]>();
  for (const member of members) {
    const folder = member.parts[0]?.chunk.transfer.folder ?? "";
    const others = folders.get(folder);
    if (others === undefined) folders.set(folder, [member]);
    else others.push(member);
  }
  return [...folders.values()];
}
