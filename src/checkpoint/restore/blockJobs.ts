import type { ByteRange, MergedRange } from "../../bytes/ranges.js";
import { CorruptCheckpointError } from "../../errors.js";
import { pathIn } from "../../storage/paths.js";
import type { ReadableStorage } from "../../storage/storage.js";
import { StreamCursor } from "../../storage/streamCursor.js";
import { streamPieceLength } from "../../storage/streamRange.js";
import type { TaskContext } from "../../tasks/context.js";
import { longestStored } from "../../zarr/chunkLimits.js";
import { fillBlocks } from "../../zarr/fillBlocks.js";
import type { ZarrArray } from "../../zarr/openArray.js";
import { readBlocks } from "../../zarr/readBlocks.js";
import { withFolder } from "../item/errorPaths.js";
import { bytesOfRun } from "./bytesOfRun.js";
import { castPieceLength, type Delivery } from "./delivery.js";
import type { Job } from "./job.js";
import { lostChunk } from "./locateChunks.js";
import { type ChunksByPlace, type ChunkTransfer, type FileChunk, type InlineChunk, type RangeTransfer, streamRuns } from "./planJobs.js";

// Chunks of rare kinds, which the zarr layer turns into blocks on this thread: shards, other element orders, rare codecs; and those left out.
// Loaded where there are some.

/** Longest chunk that is decoded in one go, in bytes: each leaves garbage of its size, which streams, with memory of their own, do not. */
const longestWhole = 32 * 1024;

const isStreamed = ({ streamable, chunkByteLength }: ZarrArray, limit: number): boolean =>
  streamable && chunkByteLength > Math.min(longestWhole, limit / 4);

/** Bytes held while a chunk is decoded: a stream's decoder keeps a window at most twice as long as the chunk. */
function heldBytes(array: ZarrArray, storedLength: number, limit: number): number {
  const { chunkByteLength } = array;
  if (isStreamed(array, limit)) return Math.min(Math.floor(limit / 2), 2 * chunkByteLength + castPieceLength);
  return storedLength + (array.streamable ? 1 : 2) * chunkByteLength + castPieceLength;
}

/** The jobs of chunks that become blocks on this thread. `limit`: bytes that all jobs may hold at once. */
export function blockJobs<Target>(
  { leftOut, inIndex, inRanges, inFiles }: ChunksByPlace<Target>,
  delivery: Delivery<Target>,
  limit: number,
): Job[] {
  const jobs = new BlockJobs(delivery, limit);
  return [
    jobs.leftOut(leftOut),
    jobs.inIndex(inIndex),
    ...inRanges.flatMap(({ storage, path, ranges }) => jobs.inRanges(storage, path, ranges)),
    ...inFiles.map((chunk) => jobs.inFile(chunk)),
  ];
}

class BlockJobs<Target> {
  readonly #delivery: Delivery<Target>;
  readonly #limit: number;

  constructor(delivery: Delivery<Target>, limit: number) {
    this.#delivery = delivery;
    this.#limit = limit;
  }

  /** Chunks that were left out: they are full of one value. */
  leftOut(chunks: readonly ChunkTransfer<Target>[]): Job {
    return {
      byteLength: castPieceLength,
      run: async (context) => {
        for (const chunk of chunks) await this.#fill(chunk, context);
      },
    };
  }

  /** Chunks in the index: short ones, though they may decode to many bytes. */
  inIndex(chunks: readonly InlineChunk<Target>[]): Job {
    return {
      byteLength: chunks.reduce((most, { transfer: { array } }) => Math.max(most, heldBytes(array, 0, this.#limit)), 0),
      run: async (context) => {
        for (const { source, ...chunk } of chunks) {
          const isLong = isStreamed(chunk.transfer.array, this.#limit);
          await this.#decode(chunk, isLong ? onePiece(source.bytes) : source.bytes, source, context);
        }
      },
    };
  }

  /** Neighbouring chunks of one file, read by one request a run and decoded one after the other. */
  inRanges(storage: ReadableStorage, path: string, ranges: readonly RangeTransfer<Target>[]): Job[] {
    return streamRuns(ranges).map((run) => ({
      byteLength:
        Math.min(run.length, streamPieceLength) +
        run.members.reduce((most, { transfer, length }) => Math.max(most, heldBytes(transfer.array, length, this.#limit)), 0),
      run: (context) => this.#readRun(storage, path, run, context),
    }));
  }

  /** A chunk that is a file of its own. */
  inFile({ source: { storage, path }, ...chunk }: FileChunk<Target>): Job {
    const { transfer, located } = chunk;
    return {
      byteLength: 2 * transfer.array.chunkByteLength + castPieceLength,
      run: async (context) => {
        const bytes = await storage.read(path, { longest: longestStored(transfer.array), signal: context.signal });
        if (bytes !== undefined) return this.#decode(chunk, bytes, { path, offset: 0 }, context);
        if (transfer.missingChunksAreLost) throw lostChunk(transfer.array, located.chunk, transfer.folder);
        await this.#fill(chunk, context);
      },
    };
  }

  async #readRun(storage: ReadableStorage, path: string, run: MergedRange<RangeTransfer<Target>>, context: TaskContext): Promise<void> {
    const folder = run.members[0]?.transfer.folder ?? "";
    const cursor = new StreamCursor(bytesOfRun(storage, path, run, context), () => tooShort(folder, path, run));
    try {
      for (const member of run.members) {
        const { transfer, offset, length } = member;
        await withFolder(folder, cursor.skipTo(offset - run.offset));
        const bytes = isStreamed(transfer.array, this.#limit) ? cursor.pieces(length) : await withFolder(folder, cursor.take(length));
        await this.#decode(member, bytes, { path, offset }, context);
      }
    } finally {
      await cursor.close();
    }
  }

  async #decode(
    { transfer, located }: ChunkTransfer<Target>,
    bytes: Uint8Array | AsyncIterable<Uint8Array>,
    from: { readonly path: string; readonly offset: number },
    context: TaskContext,
  ): Promise<void> {
    const blocks = readBlocks(transfer.array, located.chunk, bytes, from, context);
    const deliver = async () => {
      for await (const block of blocks) await this.#delivery.block(transfer, block, context);
    };
    await withFolder(transfer.folder, deliver());
    transfer.chunkDone();
  }

  async #fill({ transfer, located }: ChunkTransfer<Target>, context: TaskContext): Promise<void> {
    for (const block of fillBlocks(transfer.array, located.chunk)) await this.#delivery.block(transfer, block, context);
    transfer.chunkDone();
  }
}

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const tooShort = (folder: string, path: string, { offset, length }: ByteRange): CorruptCheckpointError =>
  new CorruptCheckpointError({ path: pathIn(folder, path), offset, expected: `${length} bytes`, received: "fewer" });
