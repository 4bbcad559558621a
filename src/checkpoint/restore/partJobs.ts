import { dtypes } from "../../arrays/dtypes.js";
import type { ByteSource } from "../../bytes/source.js";
import { pathIn } from "../../storage/paths.js";
import type { ReadableStorage } from "../../storage/storage.js";
import type { TaskContext } from "../../tasks/context.js";
import { stopTogether } from "../../tasks/stopTogether.js";
import type { WorkerLease } from "../../tasks/workerPool.js";
import { requireWarranted } from "../../zarr/chunkLimits.js";
import { withFolder } from "../item/errorPaths.js";
import { bytesOfRun } from "./bytesOfRun.js";
import { decodeHere } from "./decode/decodeHere.js";
import type { Decoding } from "./decode/decoding.js";
import { KeptBodies, type WorkersAsk } from "./decode/keptBodies.js";
import type { FileShare, PinnedFile, PostedParts, SplitPart } from "./decode/messages.js";
import { decodeOnWorker, type JobStream, splitOnWorker, type WorkerJob } from "./decode/onWorker.js";
import type { Piece, PieceSizes } from "./decode/parts.js";
import { PieceMemory } from "./decode/pieceMemory.js";
import { ArrivingBytes, type StoredBytes } from "./decode/storedBytes.js";
import { type Delivery, type PartOnItsWay, partOnItsWay } from "./delivery.js";
import type { Job } from "./job.js";
import {
  type FileRanges,
  fileShares,
  type InlineChunk,
  longestFirst,
  type PartsOfFile,
  type RangeTransfer,
  streamRuns,
  wholePart,
} from "./planJobs.js";
import { type RunRange, RunStreams } from "./runStreams.js";

/** Memory of a decoder: the window that it may look back on, usually 512 KiB, and as much again. */
const decoderLength = 2 * 1024 * 1024;

/** Decoded bytes from which on it is worth looking where a frame can be cut. */
const longFrame = 16 * 1024 * 1024;

/** Makes the jobs of chunks that decode in parts: on workers, or on this thread where there are none. */
export class PartJobs<Target> {
  readonly #decoding: Decoding;
  readonly #delivery: Delivery<Target>;
  readonly #sizes: MessageSizes;
  readonly #asking: WorkersAsk = { mayAsk: true };
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
      const path = pathIn(chunk.transfer.folder, chunk.source.path);
      const members = byPath.get(path);
      if (members === undefined) byPath.set(path, [chunk]);
      else members.push(chunk);
    }
    return Array.from(byPath, ([path, members]) => {
      const parts = members.map(({ source, ...chunk }) => wholeOnItsWay({ ...chunk, offset: source.offset, length: source.bytes.length }));
      const stored = new Map<unknown, Uint8Array>(parts.map((part, index) => [part.stored, members[index]?.source.bytes ?? nothing]));
      const bytes: StoredBytes = { at: (range) => bytesAtHand(stored.get(range) ?? nothing) };
      return this.#job([{ path, parts }], (context) => this.#decodeHere(path, parts, bytes, context));
    });
  }

  /** Chunks of files: read by the workers themselves where they can, else by this thread as streams. */
  async inFiles(files: readonly FileRanges<Target>[], context: TaskContext): Promise<Job[]> {
    const some = files.filter(({ ranges }) => ranges.length > 0);
    const opened = await Promise.all(some.map(async (ranges) => ({ ranges, file: await this.#fileOf(ranges, context) })));
    const streamed = opened.flatMap(({ ranges, file }) => (file === undefined ? this.#runsOf(ranges) : []));
    const dealt = await Promise.all(
      opened.map(async ({ ranges: { ranges }, file }) => {
        if (file === undefined) return [];
        return [{ file, parts: (await Promise.all(ranges.map((range) => this.#partsOf(file, range, context)))).flat() }];
      }),
    );
    return [...this.#shareJobs(dealt.flat()), ...this.#runJobs(streamed)];
  }

  /** Undefined where workers cannot read it themselves. */
  async #fileOf({ storage, path, ranges }: FileRanges<Target>, context: TaskContext): Promise<FileAtHand | undefined> {
    const handle = this.#decoding.workers && (await storage.handle?.(path, context));
    if (handle === undefined) return undefined;
    const { fileVersion } = await import("../../storage/fileSource.js");
    const folder = ranges[0]?.transfer.folder ?? "";
    const name = pathIn(folder, path);
    return { pinned: { handle, version: await fileVersion(handle, name) }, storage, path, folder, name };
  }

  /** Jobs that take shares of all files of a folder, one a worker. */
  #shareJobs(files: readonly PartsOfFile<FileAtHand, PartOnItsWay<Target>>[]): Job[] {
    const size = this.#decoding.workers?.size ?? 1;
    return byFolder(files).flatMap((members) => {
      const shares = fileShares(members, size);
      const named = members.map(({ file: { path }, parts }) => ({ path, parts }));
      return shares.slice(0, size).map(() => this.#job(named, (running) => this.#decodeShares(shares, running)));
    });
  }

  /** Jobs that take run after run of a folder's files, one a worker; where there is nothing to decode, each run is a job of this thread. */
  #runJobs(runs: readonly StreamRun<Target>[]): Job[] {
    const { workers } = this.#decoding;
    const isForWorkers = ({ parts }: StreamRun<Target>) => workers !== undefined && parts.some(isWork);
    const here = runs.filter((run) => !isForWorkers(run));
    const shared = byFolder(runs.filter(isForWorkers)).flatMap((members) => {
      const queue = longestFirst(members);
      return queue.slice(0, workers?.size).map(() => this.#job(members, (running) => this.#decodeRuns(queue, running)));
    });
    return [...shared, ...here.map((run) => this.#job([run], (running) => this.#decodeRunHere(run, running)))];
  }

  #runsOf({ storage, path, ranges }: FileRanges<Target>): StreamRun<Target>[] {
    return streamRuns(ranges).map((range) => ({ storage, path, range, parts: range.members.map(wholeOnItsWay) }));
  }

  /** A chunk whole, or a long frame in parts that several workers decode at once, where it can be cut. */
  async #partsOf(file: FileAtHand, range: RangeTransfer<Target>, context: TaskContext): Promise<PartOnItsWay<Target>[]> {
    const whole = wholeOnItsWay(range);
    const { codec, decodedLength } = whole.stored;
    if (codec !== "zstd" || decodedLength < longFrame) return [whole];
    const worker = await this.#decoding.workers?.acquire(context);
    if (worker === undefined) return [whole];
    const question = { kind: "split", file: file.pinned, path: file.name, part: whole.stored } as const;
    return cutInParts(whole, await withFolder(range.transfer.folder, splitOnWorker(worker, question, context)));
  }

  /** Decodes shares, until those who do so together have taken all. */
  async #decodeShares(shares: PartsOfFile<FileAtHand, PartOnItsWay<Target>>[], context: TaskContext): Promise<void> {
    while (shares.length > 0) {
      const worker = await this.#decoding.workers?.acquire(context);
      const share = shares.shift();
      if (share === undefined) worker?.release(true);
      else if (worker !== undefined) await this.#decodeSharesOn(worker, share, shares, context);
      else await this.#decodeShareHere(share, context);
    }
  }

  async #decodeShareHere({ file: { storage, path }, parts }: PartsOfFile<FileAtHand, PartOnItsWay<Target>>, context: TaskContext) {
    for (const part of parts) await this.#decodeRunHere({ storage, path, range: part.stored, parts: [part] }, context);
  }

  #decodeSharesOn(
    worker: WorkerLease,
    first: PartsOfFile<FileAtHand, PartOnItsWay<Target>>,
    others: PartsOfFile<FileAtHand, PartOnItsWay<Target>>[],
    context: TaskContext,
  ): Promise<void> {
    const taken: PartOnItsWay<Target>[] = [];
    let open: FileAtHand | undefined;
    const told = ({ file, parts }: PartsOfFile<FileAtHand, PartOnItsWay<Target>>): FileShare => {
      for (const part of parts) taken.push(part);
      const isOpen = file === open;
      open = file;
      return { path: file.name, parts: parts.map(({ stored }) => stored), ...(!isOpen && { file: file.pinned }) };
    };
    const more = () => {
      const next = this.#isAwaited ? undefined : others.shift();
      return next && told(next);
    };
    return this.#decodeOn(worker, told(first), taken, { more }, context);
  }

  /** Whether another restore waits for a worker: it gets one after what is being decoded. */
  get #isAwaited(): boolean {
    return this.#decoding.workers?.isAwaited === true;
  }

  /** Decodes runs, until those who do so together have taken all. */
  async #decodeRuns(runs: StreamRun<Target>[], context: TaskContext): Promise<void> {
    while (runs.length > 0) {
      const worker = await this.#decoding.workers?.acquire(context);
      if (worker !== undefined) await this.#decodeRunsOn(worker, runs, context);
      else for (let run = runs.shift(); run !== undefined; run = runs.shift()) await this.#decodeRunHere(run, context);
    }
  }

  /** The next run is asked for before the last bytes of the one before have come. All streams stop with the worker: else they would wait for it. */
  async #decodeRunsOn(worker: WorkerLease, runs: StreamRun<Target>[], context: TaskContext): Promise<void> {
    const streams = new RunStreams(new KeptBodies(worker, this.#asking));
    let finished = false;
    try {
      await stopTogether(async (together) => {
        const begin = () => {
          const run = runs.shift();
          return run && { run, stream: streams.begin(run, together) };
        };
        for (let current = begin(); current !== undefined; ) {
          let next: typeof current | undefined;
          const onNearEnd = () => {
            next ??= this.#isAwaited ? undefined : begin();
          };
          await this.#decodeRunOn(worker, current.run, { ...current.stream, onNearEnd }, together);
          onNearEnd();
          current = next;
        }
      }, context);
      finished = true;
    } finally {
      worker.release(finished);
      await streams.close();
    }
  }

  async #decodeRunOn(
    worker: WorkerLease,
    { path, parts, range }: StreamRun<Target>,
    stream: Omit<JobStream, "memory"> & { readonly run: number },
    context: TaskContext,
  ): Promise<void> {
    const job = { path, parts: parts.map(({ stored }) => stored), start: range.offset, run: stream.run };
    const memory = this.#posts.pop() ?? new PieceMemory(this.#sizes.posts);
    await this.#decodeOn({ ...worker, release: () => {} }, job, parts, { stream: { ...stream, memory } }, context);
    this.#posts.push(memory);
  }

  async #decodeRunHere({ storage, path, range, parts }: StreamRun<Target>, context: TaskContext): Promise<void> {
    const bytes = bytesOfRun(storage, path, range, context);
    try {
      await this.#decodeHere(path, parts, new ArrivingBytes(range.offset, async () => (await bytes.next()).value), context);
    } finally {
      await bytes.return(undefined);
    }
  }

  /** `parts` are those of the job, and those of further shares as they are taken. */
  #decodeOn(
    worker: WorkerLease,
    job: FileShare | PostedParts,
    parts: readonly PartOnItsWay<Target>[],
    from: Pick<WorkerJob, "stream" | "more">,
    context: TaskContext,
  ): Promise<void> {
    const start = { kind: "decode", module: this.#decoding.zstd, job, pieces: this.#sizes.pieces } as const;
    return decodeOnWorker(worker, { start, ...from, onPiece: (piece) => this.#delivery.piece(parts, piece, context) }, context);
  }

  #decodeHere(path: string, parts: readonly PartOnItsWay<Target>[], bytes: StoredBytes, context: TaskContext): Promise<void> {
    const job = { path, parts: parts.map(({ stored }) => stored) };
    const onPiece = async (piece: Piece) => {
      await this.#delivery.rest();
      await this.#delivery.piece(parts, piece, context);
    };
    return decodeHere({ job, bytes, pieces: this.#sizes.pieces, onPiece });
  }

  /** A job with the bytes that it holds, whose errors name files from the storage's root. All its parts are of one folder. */
  #job(files: readonly NamedParts<Target>[], run: Job["run"]): Job {
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
}

/** A file that workers can read themselves. */
interface FileAtHand {
  readonly pinned: PinnedFile;
  readonly storage: ReadableStorage;
  readonly path: string;
  /** The item's, which the path is relative to. */
  readonly folder: string;
  /** The path from the storage's root, for what a worker finds wrong with the file. */
  readonly name: string;
}

/** Parts, and what errors call their file. */
interface NamedParts<Target> {
  readonly path: string;
  readonly parts: readonly PartOnItsWay<Target>[];
}

/** Parts of a file that comes as a stream, and the range of it that holds them. */
interface StreamRun<Target> extends NamedParts<Target>, RunRange {}

/** Members by the folder of their item, which the paths of their errors begin with. */
function byFolder<Member extends { readonly parts: readonly PartOnItsWay<unknown>[] }>(members: readonly Member[]): Member[][] {
  const folders = new Map<string, Member[]>();
  for (const member of members) {
    const folder = member.parts[0]?.chunk.transfer.folder ?? "";
    const others = folders.get(folder);
    if (others === undefined) folders.set(folder, [member]);
    else others.push(member);
  }
  return [...folders.values()];
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
