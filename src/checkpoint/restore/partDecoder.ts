import type { TaskContext } from "../../tasks/context.js";
import type { WorkerLease, WorkerPool } from "../../tasks/workerPool.js";
import { requireWarranted } from "../../zarr/chunkLimits.js";
import { withFolder } from "../item/errorPaths.js";
import { bytesOfRun } from "./bytesOfRun.js";
import { decodeHere } from "./decode/decodeHere.js";
import type { Decoding } from "./decode/decoding.js";
import type { FileShare, PostedParts } from "./decode/messages.js";
import { decodeOnWorker, type JobStream, type WorkerJob } from "./decode/onWorker.js";
import type { Piece, PieceSizes } from "./decode/parts.js";
import { PieceMemory } from "./decode/pieceMemory.js";
import { ArrivingBytes, type StoredBytes } from "./decode/storedBytes.js";
import type { Delivery, PartOnItsWay } from "./delivery.js";
import type { Job } from "./job.js";
import type { BegunStream, RunRange } from "./runStreams.js";

/** Memory of a decoder: the window that it may look back on, usually 512 KiB, and as much again. */
const decoderLength = 2 * 1024 * 1024;

/** Parts, and what errors call their file. */
export interface NamedParts<Target> {
  readonly path: string;
  readonly parts: readonly PartOnItsWay<Target>[];
}

/** Parts of a file that comes as a stream, and the range of it that holds them. */
export interface StreamRun<Target> extends NamedParts<Target>, RunRange {}

/** Decodes parts on a worker or on this thread, and hands over what comes of them. */
export class PartDecoder<Target> {
  readonly #decoding: Decoding;
  readonly #delivery: Delivery<Target>;
  readonly #sizes: MessageSizes;
  /** Memory of messages that no job uses now. */
  readonly #posts: PieceMemory[] = [];

  /** `limit`: bytes that all jobs may hold at once; `total`: stored bytes of the restore. */
  constructor(decoding: Decoding, delivery: Delivery<Target>, limit: number, total: number) {
    this.#decoding = decoding;
    this.#delivery = delivery;
    this.#sizes = messageSizes(limit, total);
  }

  /** Undefined where this thread decodes. */
  get workers(): WorkerPool | undefined {
    return this.#decoding.workers;
  }

  /** Whether another restore waits for a worker: it gets one after what is being decoded. */
  get isAwaited(): boolean {
    return this.workers?.isAwaited === true;
  }

  /** A job with the bytes that it holds, whose errors name files from the storage's root. All its parts are of one folder. */
  job(files: readonly NamedParts<Target>[], run: Job["run"]): Job {
    const longest = files.flatMap(({ parts }) => parts).reduce((most, { stored }) => Math.max(most, stored.decodedLength), 0);
    const { pieces, posts } = this.#sizes;
    const checked = async (context: TaskContext) => {
      for (const { path, parts } of files) {
        for (const { chunk, stored } of parts) requireWarranted(chunk.transfer.array, { path, offset: stored.offset });
      }
      await run(context);
    };
    return {
      byteLength: pieces.count * pieces.byteLength + posts.count * posts.byteLength + Math.min(decoderLength, 2 * longest),
      run: (context) => withFolder(files[0]?.parts[0]?.chunk.transfer.folder ?? "", checked(context)),
    };
  }

  /** `parts` are those of the job, and those of further shares as they are taken. Gives the worker back. */
  onWorker(
    worker: WorkerLease,
    job: FileShare | PostedParts,
    parts: readonly PartOnItsWay<Target>[],
    from: Pick<WorkerJob, "stream" | "more">,
    context: TaskContext,
  ): Promise<void> {
    const start = { kind: "decode", module: this.#decoding.zstd, job, pieces: this.#sizes.pieces } as const;
    return decodeOnWorker(worker, { start, ...from, onPiece: (piece) => this.#delivery.piece(parts, piece, context) }, context);
  }

  /** Decodes a run whose stream was begun, and keeps the worker for the next one. */
  async runOnWorker(
    worker: WorkerLease,
    { path, parts, range }: StreamRun<Target>,
    stream: BegunStream & Pick<JobStream, "onNearEnd">,
    context: TaskContext,
  ): Promise<void> {
    const job = { path, parts: parts.map(({ stored }) => stored), start: range.offset, run: stream.run };
    const memory = this.#posts.pop() ?? new PieceMemory(this.#sizes.posts);
    await this.onWorker({ ...worker, release: () => {} }, job, parts, { stream: { ...stream, memory } }, context);
    this.#posts.push(memory);
  }

  here(path: string, parts: readonly PartOnItsWay<Target>[], bytes: StoredBytes, context: TaskContext): Promise<void> {
    const job = { path, parts: parts.map(({ stored }) => stored) };
    const onPiece = async (piece: Piece) => {
      await this.#delivery.rest();
      await this.#delivery.piece(parts, piece, context);
    };
    return decodeHere({ job, bytes, pieces: this.#sizes.pieces, onPiece });
  }

  async runHere({ storage, range, path, parts }: StreamRun<Target>, context: TaskContext): Promise<void> {
    const bytes = bytesOfRun(storage, path, range, context);
    try {
      await this.here(path, parts, new ArrivingBytes(range.offset, async () => (await bytes.next()).value), context);
    } finally {
      await bytes.return(undefined);
    }
  }
}

/** What one job has on its way: decoded pieces, and stored bytes for its worker. */
interface MessageSizes {
  readonly pieces: PieceSizes;
  readonly posts: PieceSizes;
}

/**
 * Pieces of 4 MiB for what takes long: messages stay few, and from that length on Chromium's writeBuffer takes the shortest way. For shorter
 * restores a small part of them, and where less may be held, shorter ones.
 * @param limit bytes that all jobs may hold at once.
 * @param total stored bytes of the restore.
 */
function messageSizes(limit: number, total: number): MessageSizes {
  const shortest = 32 * 1024;
  const longest = 4 * 1024 * 1024;
  const fitting = Math.min(longest, limit / 12, Math.max(total / 48, 16 * shortest));
  const byteLength = Math.max(shortest, 2 ** Math.floor(Math.log2(fitting)));
  return { pieces: { byteLength, count: 2 }, posts: { byteLength: Math.max(shortest, byteLength / 4), count: 3 } };
}
