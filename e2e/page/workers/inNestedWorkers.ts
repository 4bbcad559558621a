import type { WorkerCounts } from "./watchWorkers.js";

/** What a restore in a worker gave, and the workers that it used. */
export interface NestedRestore {
  readonly hashes: Readonly<Record<string, string>>;
  readonly counts: WorkerCounts;
}

/** Restores a step in a dedicated worker, onto a device of its own. */
export async function inNestedWorkers(directory: string, step: number): Promise<NestedRestore> {
  const worker = new Worker(new URL("./nestedWorker.ts", import.meta.url), { type: "module" });
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => (data.error === undefined ? resolve(data) : reject(new Error(data.error)));
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage({ directory, step });
    });
  } finally {
    worker.terminate();
  }
}
