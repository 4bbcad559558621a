/** What threads say to each other, as far as tests look at it. */
interface Message {
  readonly kind: string;
  readonly buffer?: ArrayBuffer;
  readonly byteLength?: number;
  readonly length?: number;
}

/** Messages by their kind. */
export type MessageCounts = Readonly<Record<string, number>>;

/** Workers that this thread started since it was watched, and what was said. */
export interface WorkerCounts {
  readonly started: number;
  readonly alive: number;
  /** By this thread. */
  readonly told: MessageCounts;
  /** By the workers. */
  readonly heard: MessageCounts;
  /** Stored bytes posted to workers, and the longest message of them; in bytes. */
  readonly postedBytes: number;
  readonly longestPost: number;
  /** Most bytes at once that workers were told to fetch and had not told to have come. */
  readonly mostUnread: number;
  /** Longest memory that decoded elements came in, in bytes. */
  readonly longestPiece: number;
}

/** Watches workers from their start to their end. */
export class WatchedWorkers {
  /** Called with each message of a worker before the package hears it; `kill` ends that worker behind the package's back. */
  onHeard: (kind: string, kill: () => void) => void = () => {};
  /** Called before each message to a worker, which waits for the answer. */
  beforeTold: (kind: string) => Promise<void> | undefined = () => undefined;
  readonly #alive = new Set<Worker>();
  readonly #counts = { started: 0, postedBytes: 0, longestPost: 0, longestPiece: 0, mostUnread: 0 };
  #unread = 0;
  readonly #told: Record<string, number> = {};
  readonly #heard: Record<string, number> = {};
  #whenEnded = () => {};

  get counts(): WorkerCounts {
    return { ...this.#counts, alive: this.#alive.size, told: { ...this.#told }, heard: { ...this.#heard } };
  }

  /** Resolves when the last worker has been ended. */
  async allEnded(): Promise<void> {
    if (this.#alive.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#whenEnded = resolve;
    });
  }

  started(worker: Worker): void {
    this.#counts.started += 1;
    this.#alive.add(worker);
  }

  ended(worker: Worker): void {
    this.#alive.delete(worker);
    if (this.#alive.size === 0) this.#whenEnded();
  }

  posted({ kind, byteLength = 0, length = 0 }: Message): void {
    add(this.#told, kind);
    if (kind === "fetch") this.#unread += length;
    this.#counts.mostUnread = Math.max(this.#counts.mostUnread, this.#unread);
    if (kind !== "bytes") return;
    this.#counts.postedBytes += byteLength;
    this.#counts.longestPost = Math.max(this.#counts.longestPost, byteLength);
  }

  heard({ kind, buffer, byteLength = 0 }: Message, kill: () => void): void {
    add(this.#heard, kind);
    if (kind === "arrived") this.#unread -= byteLength;
    if (kind === "piece") this.#counts.longestPiece = Math.max(this.#counts.longestPiece, buffer?.byteLength ?? 0);
    this.onHeard(kind, kill);
  }
}

const add = (counts: Record<string, number>, kind: string) => {
  counts[kind] = (counts[kind] ?? 0) + 1;
};

/** How {@link watchWorkers} changes them. */
interface Changes {
  /** What they run instead of their own script. */
  readonly script?: string;
  /** They are not ended when idle, however long a busy machine takes for what comes between two restores. */
  readonly stay?: boolean;
}

/** Milliseconds after which the package ends an idle worker. */
const idleMs = 5000;

/** Watches all workers that this thread starts from now on. */
export function watchWorkers({ script, stay = false }: Changes = {}): WatchedWorkers {
  const watched = new WatchedWorkers();
  const { setTimeout } = globalThis;
  if (stay) {
    globalThis.setTimeout = ((work: () => void, delay = 0) => (delay === idleMs ? 0 : setTimeout(work, delay))) as typeof setTimeout;
  }
  const instead = script === undefined ? undefined : URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  globalThis.Worker = class extends globalThis.Worker {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(instead ?? url, options);
      watched.started(this);
      this.addEventListener("message", ({ data }) => watched.heard(data, () => this.#die()));
    }

    /** Its thread is gone, and the page hears of it as browsers tell. */
    #die(): void {
      super.terminate();
      this.dispatchEvent(new ErrorEvent("error", { cancelable: true, message: "it is gone" }));
    }

    override postMessage(message: Message, transfer: Transferable[] | StructuredSerializeOptions = []): void {
      watched.posted(message);
      const post = () => super.postMessage(message, Array.isArray(transfer) ? { transfer } : transfer);
      const wait = watched.beforeTold(message.kind);
      if (wait === undefined) post();
      else wait.then(post);
    }

    override terminate(): void {
      watched.ended(this);
      super.terminate();
    }
  };
  return watched;
}
