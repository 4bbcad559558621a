import type { WorkerLease } from "../../tasks/workerPool.js";
import type { FromFillWorker, ToFillWorker } from "./fillMessages.js";

type WithoutId<Message> = Message extends unknown ? Omit<Message, "id"> : never;

interface Asked {
  resolve(buffer: ArrayBuffer | undefined): void;
  reject(error: unknown): void;
}

/** The worker that fills files, as the thread that writes has it. */
export class RemoteWorker {
  readonly #lease: WorkerLease;
  readonly #asked = new Map<number, Asked>();
  #ids = 0;
  #brokenBy: { readonly error: unknown } | undefined;

  /** @param broke Hears once that the worker has ended by itself; all that was asked of it then rejects. */
  constructor(lease: WorkerLease, broke: () => void) {
    this.#lease = lease;
    lease.onMessage((message) => this.#hear(message as FromFillWorker));
    lease.broken.catch((error: unknown) => {
      this.#brokenBy = { error };
      broke();
      for (const { reject } of this.#asked.values()) reject(error);
      this.#asked.clear();
    });
  }

  /** Asks for one thing, and waits until it is done. @throws what the browser does, StorageError `"worker"` where the worker has ended. */
  ask(message: WithoutId<ToFillWorker>, transfer: Transferable[] = []): Promise<ArrayBuffer | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#brokenBy !== undefined) throw this.#brokenBy.error;
      const id = ++this.#ids;
      this.#lease.post({ ...message, id }, transfer); // which throws where a message cannot be sent
      this.#asked.set(id, { resolve, reject });
    });
  }

  /** Gives the worker back. */
  release(): void {
    this.#lease.release(true);
  }

  #hear(message: FromFillWorker): void {
    if (message.kind === "ready") return;
    const asked = this.#asked.get(message.id);
    this.#asked.delete(message.id);
    if (message.kind === "done") asked?.resolve(message.buffer);
    else asked?.reject(new DOMException(message.message, message.name));
  }
}
