import { WorkerPool } from "../../../tasks/workerPool.js";

/** More of them wait for each other more than they decode. */
const mostWorkers = 4;

/** How long a worker without a job is kept: the next restore of a page often follows soon, and starting one takes 40 ms. */
const idleMs = 5000;

let pool: Promise<WorkerPool | undefined> | undefined;

/**
 * The workers of this thread, which all restores share, as they share its cores: `min(hardwareConcurrency, 4)`, started when a job needs one.
 * Undefined where there are none, as in Node, and as long as their script cannot be loaded.
 */
export function sharedWorkers(): Promise<WorkerPool | undefined> {
  pool ??= typeof Worker === "undefined" ? Promise.resolve(undefined) : makePool().catch(tryAgainLater);
  return pool;
}

function tryAgainLater(): undefined {
  pool = undefined;
}

async function makePool(): Promise<WorkerPool> {
  const { default: ChunkWorker } = await import("./chunkWorker.js?worker&inline");
  return new WorkerPool({
    createWorker: () => new ChunkWorker(),
    size: Math.min(navigator.hardwareConcurrency || 1, mostWorkers),
    idleMs,
  });
}
