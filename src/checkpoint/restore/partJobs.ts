import { dtypes } from "../../arrays/dtypes.js";
import type { ByteRange } from "../../bytes/ranges.js";
import type { ByteSource } from "../../bytes/source.js";
import type { ReadableStorage } from "../../storage/storage.js";
import type { TaskContext } from "../../tasks/context.js";
import type { WorkerLease } from "../../tasks/workerPool.js";
import { requireWarranted } from "../../zarr/chunkLimits.js";
import { withFolder } from "../item/errorPaths.js";
import { bytesOfRun } from "./bytesOfRun.js";
import { decodeHere } from "./decode/decodeHere.js";
import type { Decoding } from "./decode/decoding.js";
import type { PinnedFile, SplitPart } from "./decode/messages.js";
import { decodeOnWorker, splitOnWorker } from "./decode/onWorker.js";
import type { Piece, PieceSizes, StoredPart } from "./decode/parts.js";
import { PieceMemory } from "./decode/pieceMemory.js";
import { ArrivingBytes, type StoredBytes } from "./decode/storedBytes.js";
import { type Delivery, type PartOnItsWay, partOnItsWay } from "./delivery.js";
import type { Job } from "./job.js";
import { fileShares, type InlineChunk, type RangeTransfer, streamRuns, wholePart } from "./planJobs.js";

/** Memory of a decoder: the window that it may look back on, usually 512 KiB, and as much again. */
const decoderLength = 2 * 1024 * 1024;

/** Decoded bytes from which on it is worth looking where a frame can be cut. */
const longFrame = 16 * 1024 * 1024;

/** Makes the jobs of chunks that decode in parts: on workers, or on this thread where there are none. */
export class PartJobs<Target> {
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

  /** Chunks in the index: short ones, though they may decode to many bytes. */
  inIndex(chunks: readonly InlineChunk<Target>[]): Job[] {
    const byPath = new Map<string, InlineChunk<Target>[]>();
    for (const chunk of chunks) {
      const members = byPath.get(chunk.source.path);
      if (members === undefined) byPath.set(chunk.source.path, [chunk]);
      else members.push(chunk);
    }
    return Array.from(byPath, ([path, members]) => {
      const parts = members.map(({ source, ...chunk }) => wholeOnItsWay({ ...chunk, offset: source.offset, length: source.bytes.length }));
      const stored = new Map<unknown, Uint8Array>(parts.map((part, index) => [part.stored, members[index]?.source.bytes ?? nothing]));
      const bytes: StoredBytes = { at: (range) => bytesAtHand(stored.get(range) ?? nothing) };
      return this.#job(path, parts, (context) => this.#decodeHere(path, parts, bytes, context));
    });
  }

  /** Chunks of a file: read by the workers themselves where they can, else by this thread as streams. */
  async inRanges(storage: ReadableStorage, path: string, ranges: readonly RangeTransfer<Target>[], context: TaskContext): Promise<Job[]> {
    if (ranges.length === 0) return [];
    const { workers } = this.#decoding;
    const file = workers && (await storage.handle?.(path, context));
    if (workers !== undefined && file !== undefined) {
      const { fileVersion } = await import("../../storage/fileSource.js");
      const place = { file: { handle: file, version: await fileVersion(file, path) }, storage, path };
      const parts = (await Promise.all(ranges.map((range) => this.#partsOf(place, range, context)))).flat();
      const shares = fileShares(parts, workers.size);
      return shares.slice(0, workers.size).map(() => this.#job(path, parts, (running) => this.#decodeFile(place, shares, running)));
    }
    return streamRuns(ranges).map((run) => {
      const parts = run.members.map(wholeOnItsWay);
      return this.#job(path, parts, (running) => this.#decodeStream(storage, path, run, parts, running));
    });
  }

  /** A chunk whole, or a long frame in parts that several workers decode at once, where it can be cut. */
  async #partsOf(place: FileAtHand, range: RangeTransfer<Target>, context: TaskContext): Promise<PartOnItsWay<Target>[]> {
    const whole = wholeOnItsWay(range);
    const { codec, decodedLength } = whole.stored;
    if (codec !== "zstd" || decodedLength < longFrame) return [whole];
    const worker = await this.#decoding.workers?.acquire(context);
    if (worker === undefined) return [whole];
    const question = { kind: "split", file: place.file, path: place.path, part: whole.stored } as const;
    return cutInParts(whole, await withFolder(range.transfer.folder, splitOnWorker(worker, question, context)));
  }

  /** Decodes shares of a file, until those who do so together have taken all. */
  async #decodeFile({ file, storage, path }: FileAtHand, shares: PartOnItsWay<Target>[][], context: TaskContext): Promise<void> {
    const worker = await this.#decoding.workers?.acquire(context);
    const parts = shares.shift() ?? [];
    const more = () => {
      const share = shares.shift() ?? [];
      for (const part of share) parts.push(part);
      return share.map(({ stored }) => stored);
    };
    if (worker !== undefined && parts.length > 0) return this.#decodeOn(worker, path, parts, { file, more }, context);
    worker?.release(true);
    for (let done = 0; done < parts.length || more().length > 0; done++) {
      const part = parts[done];
      if (part !== undefined) await this.#decodeStream(storage, path, part.stored, [part], context);
    }
  }

  async #decodeStream(
    storage: ReadableStorage,
    path: string,
    run: ByteRange,
    parts: readonly PartOnItsWay<Target>[],
    context: TaskContext,
  ): Promise<void> {
    const worker = parts.some(isWork) ? await this.#decoding.workers?.acquire(context) : undefined;
    const bytes = bytesOfRun(storage, path, run, context);
    try {
      if (worker !== undefined) return await this.#decodeOn(worker, path, parts, { start: run.offset, bytes }, context);
      await this.#decodeHere(path, parts, new ArrivingBytes(run.offset, async () => (await bytes.next()).value), context);
    } finally {
      await bytes.return(undefined);
    }
  }

  async #decodeOn(
    worker: WorkerLease,
    path: string,
    parts: readonly PartOnItsWay<Target>[],
    from:
      | { readonly file: PinnedFile; readonly more: () => readonly StoredPart[] }
      | { readonly start: number; readonly bytes: AsyncIterable<Uint8Array> },
    context: TaskContext,
  ): Promise<void> {
    const job = { path, parts: parts.map(({ stored }) => stored) };
    const source = "file" in from ? { file: from.file } : { start: from.start };
    const start = { kind: "decode", module: this.#decoding.zstd, job, bytes: source, pieces: this.#sizes.pieces } as const;
    const onPiece = (piece: Piece) => this.#delivery.piece(parts, piece, context);
    const memory = this.#posts.pop() ?? new PieceMemory(this.#sizes.posts);
    const stream = "bytes" in from ? { bytes: from.bytes, memory } : undefined;
    const more = "file" in from ? from.more : undefined;
    await decodeOnWorker(worker, { start, stream, more, onPiece }, context);
    this.#posts.push(memory);
  }

  #decodeHere(path: string, parts: readonly PartOnItsWay<Target>[], bytes: StoredBytes, context: TaskContext): Promise<void> {
    const job = { path, parts: parts.map(({ stored }) => stored) };
    const onPiece = (piece: Piece) => this.#delivery.piece(parts, piece, context);
    return decodeHere({ job, bytes, pieces: this.#sizes.pieces, onPiece });
  }

  /** A job with the bytes that it holds, whose errors name files from the storage's root. */
  #job(path: string, parts: readonly PartOnItsWay<Target>[], run: Job["run"]): Job {
    const longest = parts.reduce((most, { stored }) => Math.max(most, stored.decodedLength), 0);
    const { pieces, posts } = this.#sizes;
    const checked = async (context: TaskContext) => {
      for (const { chunk, stored } of parts) requireWarranted(chunk.transfer.array, { path, offset: stored.offset });
      await run(context);
    };
    return {
      byteLength: pieces.count * pieces.byteLength + posts.count * posts.byteLength + Math.min(decoderLength, 2 * longest),
      run: (context) => withFolder(parts[0]?.chunk.transfer.folder ?? "", checked(context)),
    };
  }
}

/** A file that workers can read themselves. */
interface FileAtHand {
  readonly file: PinnedFile;
  readonly storage: ReadableStorage;
  readonly path: string;
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

const nothing = new Uint8Array();

const wholeOnItsWay = <Target>(range: RangeTransfer<Target>): PartOnItsWay<Target> => partOnItsWay(range, wholePart(range));

/** The parts between the cuts; the whole where there are none, or where one is within an element. */
function cutInParts<Target>({ chunk, stored }: PartOnItsWay<Target>, cuts: readonly SplitPart[]): PartOnItsWay<Target>[] {
  const { itemsize } = dtypes[stored.storedDtype];
  if (cuts.length === 0 || cuts.some(({ decodedLength }) => decodedLength % itemsize !== 0)) return [{ chunk, stored }];
  let elementOffset = 0;
  return cuts.map((cut) => {
    const part = { chunk, stored: { ...stored, ...cut, elementOffset } };
    elementOffset += cut.decodedLength / itemsize;
    return part;
  });
}

/** Whether there is more to do than to copy bytes. */
const isWork = ({ stored }: PartOnItsWay<unknown>): boolean => stored.codec !== "none" || stored.dtype !== stored.storedDtype;

function bytesAtHand(bytes: Uint8Array): ByteSource {
  let rest = bytes;
  return {
    read(into) {
      const some = rest.subarray(0, into.length);
      into.set(some);
      rest = rest.subarray(some.length);
      return some.length;
    },
  };
}
