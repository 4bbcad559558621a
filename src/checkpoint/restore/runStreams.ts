import { type ByteRange, endOf } from "../../bytes/ranges.js";
import type { ReadableStorage } from "../../storage/storage.js";
import type { TaskContext } from "../../tasks/context.js";
import { bytesOfRun } from "./bytesOfRun.js";
import type { KeptBodies } from "./decode/keptBodies.js";
import type { JobStream } from "./decode/onWorker.js";
import { runLength } from "./planJobs.js";

/** A range of a file. */
export interface RunRange {
  readonly storage: ReadableStorage;
  readonly path: string;
  readonly range: ByteRange;
}

/** A run that was asked for. */
export type BegunStream = Omit<JobStream, "memory" | "onNearEnd"> & { readonly run: number };

/** Of runs of all workers: what one says late of a run is of no other. */
let runs = 0;

/** The streams of the runs that one worker decodes one after the other. */
export class RunStreams {
  readonly #kept: KeptBodies;
  readonly #begun: AsyncGenerator<Uint8Array>[] = [];

  constructor(kept: KeptBodies) {
    this.#kept = kept;
  }

  /** Asks for a run at once. */
  begin({ storage, path, range }: RunRange, context: TaskContext): BegunStream {
    const run = ++runs;
    const stream = bytesOfRun(storage, path, range, context, isLong(range) ? undefined : this.#kept.ofRun(run));
    this.#begun.push(stream);
    return { run, bytes: fromNow(stream), start: range.offset, end: endOf(range), kept: this.#kept };
  }

  /** Lets go of what was not read. */
  async close(): Promise<void> {
    await Promise.all(this.#begun.map((stream) => stream.return(undefined)));
  }
}

/** A long chunk is a run by itself, which one worker decodes to the end: it comes sooner where another thread reads meanwhile. */
const isLong = ({ length }: ByteRange): boolean => length > runLength.most;

/** The same bytes, of which the first are asked for at once. */
function fromNow(stream: AsyncGenerator<Uint8Array>): AsyncIterable<Uint8Array> {
  const first = stream.next();
  first.catch(() => undefined); // whoever reads hears of it
  return (async function* () {
    const { done, value } = await first;
    if (done === true) return;
    yield value;
    yield* stream;
  })();
}
