import { WorkerPool } from "./workerPool.js";

/** What is known of a pool's workers before the first is needed. */
export interface LazyPoolOptions {
  /** Most workers at once; never more than the machine has cores. */
  readonly most: number;
  /** How long a worker without a job is kept, in milliseconds. */
  readonly idleMs: number;
  /** The module of the worker's script. */
  readonly load: () => Promise<{ readonly default: new () => Worker }>;
}

/** A pool that the first who asks for it makes; undefined where there are no workers, as in Node, and as long as their script cannot be loaded. */
export function lazyPool({ most, idleMs, load }: LazyPoolOptions): () => Promise<WorkerPool | undefined> {
  let pool: Promise<WorkerPool | undefined> | undefined;
  const make = async () => {
    const { default: Script } = await load();
    return new WorkerPool({ createWorker: () => new Script(), size: Math.min(navigator.hardwareConcurrency || 1, most), idleMs });
  };
  const tryAgainLater = () => {
    pool = undefined;
    return undefined;
  };
  return () => {
    pool ??= typeof Worker === "undefined" ? Promise.resolve(undefined) : make().catch(tryAgainLater);
    return pool;
  };
}
