import { dtypes } from "../../arrays/dtypes.js";
import { pathIn } from "../../storage/paths.js";
import type { ReadableStorage } from "../../storage/storage.js";
import type { TaskContext } from "../../tasks/context.js";
import type { WorkerLease } from "../../tasks/workerPool.js";
import { withFolder } from "../item/errorPaths.js";
import type { FileShare, PinnedFile, SplitPart } from "./decode/messages.js";
import { splitOnWorker } from "./decode/onWorker.js";
import { type PartOnItsWay, wholeOnItsWay } from "./delivery.js";
import type { Job } from "./job.js";
import type { PartDecoder } from "./partDecoder.js";
import { byFolder, type FileRanges, fileShares, type PartsOfFile, type RangeTransfer } from "./planJobs.js";

/** Decoded bytes from which on it is worth looking where a frame can be cut. */
const longFrame = 16 * 1024 * 1024;

/** A file that workers can read themselves. */
export interface FileAtHand {
  readonly pinned: PinnedFile;
  readonly storage: ReadableStorage;
  readonly path: string;
  /** The path from the storage's root, for what a worker finds wrong with the file. */
  readonly name: string;
}

/** Parts of a file that workers read themselves. */
type Share<Target> = PartsOfFile<FileAtHand, PartOnItsWay<Target>>;

/** Makes the jobs of files that workers read themselves: all files of a folder are dealt to them in shares. */
export class ShareJobs<Target> {
  readonly #decoder: PartDecoder<Target>;

  constructor(decoder: PartDecoder<Target>) {
    this.#decoder = decoder;
  }

  /** Undefined where workers cannot read it themselves. */
  async fileOf({ storage, path, ranges }: FileRanges<Target>, context: TaskContext): Promise<FileAtHand | undefined> {
    const handle = this.#decoder.workers && (await storage.handle?.(path, context));
    if (handle === undefined) return undefined;
    const { fileVersion, isSendable } = await import("../../storage/fileSource.js");
    if (!isSendable(handle)) return undefined;
    const name = pathIn(ranges[0]?.transfer.folder ?? "", path);
    return { pinned: { handle, version: await fileVersion(handle, name) }, storage, path, name };
  }

  /** What is to be read of a file: each chunk whole, or a long frame in the parts that it can be cut in. */
  async partsOf(file: FileAtHand, { ranges }: FileRanges<Target>, context: TaskContext): Promise<Share<Target>> {
    return { file, parts: (await Promise.all(ranges.map((range) => this.#partsOfChunk(file, range, context)))).flat() };
  }

  /** Jobs that take shares of all files of a folder, one a worker. */
  of(files: readonly Share<Target>[]): Job[] {
    const size = this.#decoder.workers?.size ?? 1;
    return byFolder(files).flatMap((members) => {
      const shares = fileShares(members, size);
      const named = members.map(({ file: { path }, parts }) => ({ path, parts }));
      return shares.slice(0, size).map(() => this.#decoder.job(named, (running) => this.#decodeAll(shares, running)));
    });
  }

  async #partsOfChunk(file: FileAtHand, range: RangeTransfer<Target>, context: TaskContext): Promise<PartOnItsWay<Target>[]> {
    const whole = wholeOnItsWay(range);
    const { codec, decodedLength } = whole.stored;
    if (codec !== "zstd" || decodedLength < longFrame) return [whole];
    const worker = await this.#decoder.workers?.acquire(context);
    if (worker === undefined) return [whole];
    const question = { kind: "split", file: file.pinned, path: file.name, part: whole.stored } as const;
    return cutInParts(whole, await withFolder(range.transfer.folder, splitOnWorker(worker, question, context)));
  }

  /** Decodes shares, until those who do so together have taken all. */
  async #decodeAll(shares: Share<Target>[], context: TaskContext): Promise<void> {
    while (shares.length > 0) {
      const worker = await this.#decoder.workers?.acquire(context);
      const share = shares.shift();
      if (share === undefined) worker?.release(true);
      else if (worker !== undefined) await this.#decodeOn(worker, share, shares, context);
      else await this.#decodeHere(share, context);
    }
  }

  #decodeOn(worker: WorkerLease, first: Share<Target>, others: Share<Target>[], context: TaskContext): Promise<void> {
    const taken: PartOnItsWay<Target>[] = [];
    let open: FileAtHand | undefined;
    const told = ({ file, parts }: Share<Target>): FileShare => {
      for (const part of parts) taken.push(part);
      const isOpen = file === open;
      open = file;
      return { path: file.name, parts: parts.map(({ stored }) => stored), ...(!isOpen && { file: file.pinned }) };
    };
    const more = () => {
      const next = this.#decoder.isAwaited ? undefined : others.shift();
      return next && told(next);
    };
    return this.#decoder.onWorker(worker, told(first), taken, { more }, context);
  }

  async #decodeHere({ file: { storage, path }, parts }: Share<Target>, context: TaskContext): Promise<void> {
    for (const part of parts) await this.#decoder.runHere({ storage, path, range: part.stored, parts: [part] }, context);
  }
}

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
