import type { WorkerPool } from "../../tasks/workerPool.js";
import { nameOf } from "./failures.js";
import type { FileSink } from "./fileSink.js";
import { RemoteWorker } from "./remoteWorker.js";

/** A worker, and how many files are open in it. */
interface Shared {
  readonly worker: Promise<RemoteWorker | undefined>;
  files: number;
}

/** Files that one worker of a pool fills, side by side. It is lent as long as one of them is open. */
export class RemoteFiles {
  readonly #pool: WorkerPool;
  #shared: Shared | undefined;
  #opened = 0;

  constructor(pool: WorkerPool) {
    this.#pool = pool;
  }

  /**
   * Begins to fill a file; undefined where there are no workers, or none with synchronous handles.
   * @throws what the browser does, StorageError `"worker"` where the worker ends meanwhile; so does the sink.
   */
  async openSink(handle: FileSystemFileHandle): Promise<FileSink | undefined> {
    this.#shared ??= { worker: this.#start(), files: 0 };
    const shared = this.#shared;
    shared.files += 1;
    const file = ++this.#opened;
    const worker = await shared.worker;
    try {
      if (worker !== undefined) {
        await open(worker, file, handle);
        return this.#sinkOf(worker, file, () => this.#leave(shared));
      }
    } catch (error) {
      if (!(error instanceof DOMException && error.name === "NotSupportedError")) {
        this.#leave(shared);
        throw error;
      }
    }
    this.#leave(shared);
    return undefined;
  }

  #sinkOf(worker: RemoteWorker, file: number, leave: () => void): FileSink {
    let open = true;
    const end = async (kind: "close" | "abandon") => {
      if (!open) return;
      open = false;
      await worker.ask({ kind, file }).finally(leave);
    };
    return {
      put: async (buffer, byteLength) => (await worker.ask({ kind: "put", file, buffer, byteLength }, [buffer])) ?? buffer,
      close: () => end("close"),
      abandon: () => end("abandon").catch(() => undefined),
    };
  }

  async #start(): Promise<RemoteWorker | undefined> {
    const lease = await this.#pool.acquire();
    return lease && new RemoteWorker(lease, () => this.#forget());
  }

  #forget(): void {
    this.#shared = undefined;
  }

  #leave(shared: Shared): void {
    shared.files -= 1;
    if (shared.files > 0) return;
    if (this.#shared === shared) this.#forget();
    shared.worker.then((worker) => worker?.release());
  }
}

async function open(worker: RemoteWorker, file: number, handle: FileSystemFileHandle): Promise<void> {
  try {
    await worker.ask({ kind: "open", file, place: handle });
  } catch (cause) {
    // Safari sends handles to no other thread; the worker finds the file by its path.
    const path = nameOf(cause) === "DataCloneError" ? await (await navigator.storage.getDirectory()).resolve(handle) : null;
    if (path === null) throw cause;
    await worker.ask({ kind: "open", file, place: path });
  }
}
