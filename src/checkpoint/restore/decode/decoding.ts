import { loadZstd } from "../../../codecs/zstd/loadZstd.js";
import type { WorkerPool } from "../../../tasks/workerPool.js";
import { sharedWorkers } from "./workers.js";

/** What decodes chunks. */
export interface Decoding {
  /** Undefined where there are none, or where they are not worth their start: this thread decodes. */
  readonly workers: WorkerPool | undefined;
  /** The zstd decoder; undefined where WebAssembly is refused. */
  readonly zstd: WebAssembly.Module | undefined;
}

/** Stored bytes that this thread decodes in less time than a worker takes to start. */
const fewBytes = 2 * 1024 * 1024;

/** What is there to decode so many stored bytes. */
export async function decodingOf(byteLength: number): Promise<Decoding> {
  const [workers, zstd] = await Promise.all([byteLength > fewBytes ? sharedWorkers() : undefined, loadZstd()]);
  return { workers, zstd };
}
