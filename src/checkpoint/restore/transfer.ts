import { castFrom } from "../../arrays/cast.js";
import { type Dtype, dtypes } from "../../arrays/dtypes.js";
import type { Block } from "../../arrays/spec.js";
import { type ByteRange, type MergedRange, mergeRanges } from "../../bytes/ranges.js";
import { CorruptCheckpointError } from "../../errors.js";
import type { ReadableStorage } from "../../storage/storage.js";
import { StreamCursor } from "../../storage/streamCursor.js";
import { absentFileError, streamPieceLength, streamRange } from "../../storage/streamRange.js";
import type { ByteBudget } from "../../tasks/budget.js";
import type { TaskContext } from "../../tasks/context.js";
import { stopTogether } from "../../tasks/stopTogether.js";
import type { ZarrArray } from "../../zarr/openArray.js";
import { fillBlocks, longestStored, readBlocks } from "../../zarr/readBlocks.js";
import { withFolder } from "../item/errorPaths.js";
import { type ChunkSource, type LocatedChunk, lostChunk } from "./locateChunks.js";

/** An array on its way: its chunks, the dtype it gets, and what takes its blocks. */
export interface Transfer {
  readonly array: ZarrArray;
  readonly dtype: Dtype;
  /** The item's folder, which the paths of its chunks are relative to. */
  readonly folder: string;
  readonly chunks: readonly LocatedChunk[];
  readonly missingChunksAreLost: boolean;
  /** Takes a block of the new dtype; its bytes are the caller's again when the promise resolves. */
  write(block: Block): Promise<void> | void;
  /** One more of its chunks is complete. */
  chunkDone(): void;
}

interface RangeRead extends ByteRange {
  readonly transfer: Transfer;
  readonly located: LocatedChunk;
}

/** One piece of work: the bytes it holds at once, and how to do it. */
interface Job {
  readonly byteLength: number;
  run(context: TaskContext): Promise<void>;
}

/**
 * Reads, decodes, casts and hands over all blocks of all arrays. Neighbouring chunks are read by one request, whose bytes are decoded as they
 * come. The bytes held at once stay within the budget. The first failure stops everything else.
 */
export async function moveBytes(transfers: readonly Transfer[], budget: ByteBudget, context: TaskContext): Promise<void> {
  const jobs = planJobs(transfers, budget.limit);
  await stopTogether((together) => Promise.all(jobs.map((job) => runWithin(budget, job, together))), context);
}

async function runWithin(budget: ByteBudget, job: Job, context: TaskContext): Promise<void> {
  const release = await budget.acquire(Math.min(job.byteLength, budget.limit), context);
  try {
    await job.run(context);
  } finally {
    release();
  }
}

function planJobs(transfers: readonly Transfer[], limit: number): Job[] {
  const jobs: Job[] = [];
  const ranges = new Map<ReadableStorage, Map<string, RangeRead[]>>();
  const inIndex: { transfer: Transfer; located: LocatedChunk }[] = [];
  for (const transfer of transfers) {
    for (const located of transfer.chunks) {
      const { source } = located;
      if (source.kind === "inline" || source.kind === "fill") inIndex.push({ transfer, located });
      else if (source.kind === "file") jobs.push(fileJob(transfer, located, source));
      else groupOf(ranges, source).push({ ...source.range, transfer, located });
    }
  }
  for (const [storage, files] of ranges) {
    for (const [path, reads] of files) for (const run of mergeRanges(reads)) jobs.push(runJob(storage, path, run, limit));
  }
  return [memoryJob(inIndex, limit), ...jobs];
}

function groupOf(groups: Map<ReadableStorage, Map<string, RangeRead[]>>, source: ChunkSource & { kind: "range" }): RangeRead[] {
  const files = groups.get(source.storage) ?? new Map<string, RangeRead[]>();
  groups.set(source.storage, files);
  const reads = files.get(source.path) ?? [];
  files.set(source.path, reads);
  return reads;
}

/** Longest chunk that is decoded in one go, in bytes: each leaves garbage of its size, which streams, with memory of their own, do not. */
const longestWhole = 32 * 1024;

const isStreamed = ({ streamable, chunkByteLength }: ZarrArray, limit: number): boolean =>
  streamable && chunkByteLength > Math.min(longestWhole, limit / 4);

/** Longest piece of a block that is cast at once, in bytes of the wider dtype; also what a stream holds beside its decoder. */
const castPieceLength = 1024 * 1024;

/** Bytes held while a chunk is decoded: a stream's decoder keeps a window at most twice as long as the chunk. */
function heldBytes(array: ZarrArray, storedLength: number, limit: number): number {
  const { chunkByteLength } = array;
  if (isStreamed(array, limit)) return Math.min(Math.floor(limit / 2), 2 * chunkByteLength + castPieceLength);
  return storedLength + (array.streamable ? 1 : 2) * chunkByteLength + castPieceLength;
}

/** Chunks that need no reading: values in the index, which may still decode to many bytes, and chunks left out. */
const memoryJob = (chunks: readonly { transfer: Transfer; located: LocatedChunk }[], limit: number): Job => ({
  byteLength: chunks.reduce((most, { transfer: { array } }) => Math.max(most, heldBytes(array, 0, limit)), 0),
  async run(context) {
    for (const { transfer, located } of chunks) {
      const { source } = located;
      if (source.kind !== "inline") await fill(transfer, located, context);
      else if (isStreamed(transfer.array, limit)) await decode(transfer, located, onePiece(source.bytes), source, context);
      else await decode(transfer, located, source.bytes, source, context);
    }
  },
});

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Neighbouring chunks of one file, read by one request and decoded one after the other. */
const runJob = (storage: ReadableStorage, path: string, run: MergedRange<RangeRead>, limit: number): Job => ({
  byteLength:
    Math.min(run.length, streamPieceLength) +
    run.members.reduce((most, { transfer, length }) => Math.max(most, heldBytes(transfer.array, length, limit)), 0),
  async run(context) {
    const folder = run.members[0]?.transfer.folder ?? "";
    const open = (range: ByteRange) => new StreamCursor(piecesOf(storage, path, range, context), () => tooShort(folder, path, range));
    const cursor = open(run);
    try {
      for (const { transfer, located, offset, length } of run.members) {
        await withFolder(folder, cursor.skipTo(offset - run.offset));
        // Ranges of a sound index do not overlap; one that does is read by itself.
        const source = cursor.position > offset - run.offset ? open({ offset, length }) : cursor;
        try {
          const bytes = isStreamed(transfer.array, limit) ? source.pieces(length) : await withFolder(folder, source.take(length));
          await decode(transfer, located, bytes, { path, offset }, context);
        } finally {
          if (source !== cursor) await source.close();
        }
      }
    } finally {
      await cursor.close();
    }
  },
});

/** A range in pieces. One that is as short as a piece is read whole: more can be done then about servers that misbehave. */
async function* piecesOf(storage: ReadableStorage, path: string, range: ByteRange, context: TaskContext): AsyncGenerator<Uint8Array> {
  if (range.length > streamPieceLength) return yield* streamRange(storage, path, range, context);
  const bytes = await storage.read(path, { range, signal: context.signal });
  if (bytes === undefined) throw absentFileError(path, range);
  yield bytes;
}

const tooShort = (folder: string, path: string, { offset, length }: ByteRange): CorruptCheckpointError =>
  new CorruptCheckpointError({ path: `${folder}/${path}`, offset, expected: `${length} bytes`, received: "fewer" });

/** A chunk that is a file of its own. */
const fileJob = (transfer: Transfer, located: LocatedChunk, { storage, path }: ChunkSource & { kind: "file" }): Job => ({
  byteLength: 2 * transfer.array.chunkByteLength + castPieceLength,
  async run(context) {
    const bytes = await storage.read(path, { longest: longestStored(transfer.array), signal: context.signal });
    if (bytes !== undefined) return decode(transfer, located, bytes, { path, offset: 0 }, context);
    if (transfer.missingChunksAreLost) throw lostChunk(transfer.array, located.chunk, transfer.folder);
    await fill(transfer, located, context);
  },
});

async function decode(
  transfer: Transfer,
  { chunk }: LocatedChunk,
  bytes: Uint8Array | AsyncIterable<Uint8Array>,
  from: { readonly path: string; readonly offset: number },
  context: TaskContext,
): Promise<void> {
  const blocks = readBlocks(transfer.array, chunk, bytes, from, context);
  const delivery = async () => {
    for await (const block of blocks) await deliver(transfer, block, context);
  };
  await withFolder(transfer.folder, delivery());
  transfer.chunkDone();
}

async function fill(transfer: Transfer, { chunk }: LocatedChunk, context: TaskContext): Promise<void> {
  for (const block of fillBlocks(transfer.array, chunk)) await deliver(transfer, block, context);
  transfer.chunkDone();
}

/** Casts a block where its array gets another dtype, in pieces, and hands it over. */
async function deliver(transfer: Transfer, block: Block, { signal }: TaskContext): Promise<void> {
  signal?.throwIfAborted();
  const { array, dtype } = transfer;
  const stored = array.spec.dtype;
  const cast = stored === dtype ? undefined : castFrom(stored, dtype);
  if (cast === undefined) return transfer.write(block);
  const itemsize = dtypes[stored].itemsize;
  const elements = Math.floor(castPieceLength / Math.max(itemsize, dtypes[dtype].itemsize));
  for (let start = 0; start < block.data.byteLength; start += elements * itemsize) {
    const piece = block.data.subarray(start, start + elements * itemsize);
    await transfer.write({ ...block, elementOffset: block.elementOffset + start / itemsize, data: cast(piece) });
  }
}
