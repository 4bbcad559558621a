import { WorkerPool } from "../../tasks/workerPool.js";

/** Frames that are worth compressing at once, each of which takes memory; a device gives its bytes no faster. */
export const mostEncoders = 2;

/** How long a worker is kept without a frame, in milliseconds: the next one of a save follows sooner, and its memory is large. */
const idleMs = 2000;

let pool: Promise<WorkerPool | undefined> | undefined;

/** The workers of this thread that compress; undefined where there are none, as in Node, and as long as their script cannot be loaded. */
export function encoders(): Promise<WorkerPool | undefined> {
  pool ??= typeof Worker === "undefined" ? Promise.resolve(undefined) : makePool().catch(tryAgainLater);
  return pool;
}

function tryAgainLater(): undefined {
  pool = undefined;
}

async function makePool(): Promise<WorkerPool> {
  const { default: EncodeWorker } = await import("./encodeWorker.js?worker&inline");
  return new WorkerPool({
    createWorker: () => new EncodeWorker(),
    size: Math.min(navigator.hardwareConcurrency || 1, mostEncoders),
    idleMs,
  });
}
