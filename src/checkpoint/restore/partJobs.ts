import type { ByteSource } from "../../bytes/source.js";
import { pathIn } from "../../storage/paths.js";
import type { TaskContext } from "../../tasks/context.js";
import type { Decoding } from "./decode/decoding.js";
import type { StoredBytes } from "./decode/storedBytes.js";
import { type Delivery, wholeOnItsWay } from "./delivery.js";
import type { Job } from "./job.js";
import { PartDecoder } from "./partDecoder.js";
import type { FileRanges, InlineChunk } from "./planJobs.js";
import { RunJobs } from "./runJobs.js";
import { ShareJobs } from "./shareJobs.js";

/** Makes the jobs of chunks that decode in parts: on workers, or on this thread where there are none. */
export class PartJobs<Target> {
  readonly #decoder: PartDecoder<Target>;
  readonly #shares: ShareJobs<Target>;
  readonly #runs: RunJobs<Target>;

  /** `limit`: bytes that all jobs may hold at once; `total`: stored bytes of the restore. */
  constructor(decoding: Decoding, delivery: Delivery<Target>, limit: number, total: number) {
    this.#decoder = new PartDecoder(decoding, delivery, limit, total);
    this.#shares = new ShareJobs(this.#decoder);
    this.#runs = new RunJobs(this.#decoder);
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
      return this.#decoder.job([{ path, parts }], (context) => this.#decoder.here(path, parts, bytes, context));
    });
  }

  /** Chunks of files: read by the workers themselves where they can, else as streams. */
  async inFiles(files: readonly FileRanges<Target>[], context: TaskContext): Promise<Job[]> {
    const some = files.filter(({ ranges }) => ranges.length > 0);
    const opened = await Promise.all(some.map(async (ranges) => ({ ranges, file: await this.#shares.fileOf(ranges, context) })));
    const streamed = opened.filter(({ file }) => file === undefined).map(({ ranges }) => ranges);
    const shared = await Promise.all(opened.flatMap(({ ranges, file }) => (file ? [this.#shares.partsOf(file, ranges, context)] : [])));
    return [...this.#shares.of(shared), ...this.#runs.of(streamed)];
  }
}

const nothing = new Uint8Array();

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
