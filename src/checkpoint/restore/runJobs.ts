import type { TaskContext } from "../../tasks/context.js";
import { stopTogether } from "../../tasks/stopTogether.js";
import type { WorkerLease } from "../../tasks/workerPool.js";
import { KeptBodies, type WorkersAsk } from "./decode/keptBodies.js";
import { type PartOnItsWay, wholeOnItsWay } from "./delivery.js";
import type { Job } from "./job.js";
import type { PartDecoder, StreamRun } from "./partDecoder.js";
import { byFolder, type FileRanges, longestFirst, streamRuns } from "./planJobs.js";
import { RunStreams } from "./runStreams.js";

/** Makes the jobs of files that come as streams: run after run of a folder's files is taken by the workers. */
export class RunJobs<Target> {
  readonly #decoder: PartDecoder<Target>;
  readonly #asking: WorkersAsk = { outcome: "unknown" };

  constructor(decoder: PartDecoder<Target>) {
    this.#decoder = decoder;
  }

  /** One a worker; where there is nothing to decode, each run is a job of this thread. */
  of(files: readonly FileRanges<Target>[]): Job[] {
    const { workers } = this.#decoder;
    const runs = files.flatMap(runsOf);
    const isForWorkers = ({ parts }: StreamRun<Target>) => workers !== undefined && parts.some(isWork);
    const here = runs.filter((run) => !isForWorkers(run));
    const shared = byFolder(runs.filter(isForWorkers)).flatMap((members) => {
      const queue = longestFirst(members);
      return queue.slice(0, workers?.size).map(() => this.#decoder.job(members, (running) => this.#decodeAll(queue, running)));
    });
    return [...shared, ...here.map((run) => this.#decoder.job([run], (running) => this.#decoder.runHere(run, running)))];
  }

  /** Decodes runs, until those who do so together have taken all. */
  async #decodeAll(runs: StreamRun<Target>[], context: TaskContext): Promise<void> {
    while (runs.length > 0) {
      const worker = await this.#decoder.workers?.acquire(context);
      if (worker !== undefined) await this.#decodeOn(worker, runs, context);
      else for (let run = runs.shift(); run !== undefined; run = runs.shift()) await this.#decoder.runHere(run, context);
    }
  }

  /** The next run is asked for before the last bytes of the one before have come. All streams stop with the worker: else they would wait for it. */
  async #decodeOn(worker: WorkerLease, runs: StreamRun<Target>[], context: TaskContext): Promise<void> {
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
            next ??= this.#decoder.isAwaited ? undefined : begin();
          };
          await this.#decoder.runOnWorker(worker, current.run, { ...current.stream, onNearEnd }, together);
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
}

const runsOf = <Target>({ storage, path, ranges }: FileRanges<Target>): StreamRun<Target>[] =>
  streamRuns(ranges).map((range) => ({ storage, path, range, parts: range.members.map(wholeOnItsWay) }));

/** Whether there is more to do than to copy bytes. */
const isWork = ({ stored }: PartOnItsWay<unknown>): boolean => stored.codec !== "none" || stored.dtype !== stored.storedDtype;
