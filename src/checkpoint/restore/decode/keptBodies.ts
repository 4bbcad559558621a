import { mayPass } from "../../../storage/http/refusal.js";
import type { BodyKeeper, KeptQuestion } from "../../../storage/keptStream.js";
import type { WorkerLease } from "../../../tasks/workerPool.js";
import type { BodyAnswer, FromWorker, ToWorker } from "./messages.js";

/** What a worker says of the bodies that it keeps. */
export type BodyNews = FromWorker & { readonly kind: "answered" | "broken" | "arrived" | "arrivedAll" };

/** Memory of stand-ins: it is never read, and takes none as long as nobody writes there. */
const blank = new ArrayBuffer(4 * 1024 * 1024);

/** Of requests of all workers and jobs: nothing that is said late is of another one. */
let ids = 0;

/** How requests of the workers of one restore fare. */
export interface WorkersAsk {
  /**
   * `"refused"`: a thread got what its worker did not, and no worker got any: a page's policy may bind workers, and some servers want to know which
   * page asks. Once one is given a part, what fails is that request alone.
   */
  outcome: "unknown" | "given" | "refused";
}

type RunQuestion = KeptQuestion & { readonly run: number };

interface Asked {
  answer(answer: BodyAnswer): void;
  fail(error: Error): void;
}

/** A worker that fetches what it decodes; this thread decides what, and hears how much came. */
export class KeptBodies {
  readonly #worker: Pick<WorkerLease, "post" | "broken">;
  readonly #asking: WorkersAsk;
  readonly #asked = new Map<number, Asked>();
  readonly #bodies = new Map<number, ReadableStreamDefaultController<Uint8Array>>();
  readonly #responses = new WeakSet<Response>();
  readonly #standIns = new WeakSet<ArrayBufferLike>([blank]);
  #ended: Error | undefined;

  constructor(worker: Pick<WorkerLease, "post" | "broken">, asking: WorkersAsk) {
    this.#worker = worker;
    this.#asking = asking;
    worker.broken.catch((error: Error) => this.#fail(error));
  }

  /** What keeps the bodies of one run. */
  ofRun(run: number): BodyKeeper {
    return {
      fetch: (url, init, question) => this.#fetch(url, init, { ...question, run }),
      keepsBodyOf: (response) => this.#responses.has(response),
    };
  }

  async #fetch(url: string, init: RequestInit, question: RunQuestion): Promise<Response> {
    const asking = this.#asking;
    const answer = asking.outcome === "refused" ? undefined : await this.#ask(url, init, question);
    if (answer?.isKept) asking.outcome = "given";
    if (answer !== undefined && (answer.isKept || mayPass(answer.status))) return this.#responseOf(answer);
    const response = await fetch(url, init);
    if (response.status === 206 && asking.outcome === "unknown") asking.outcome = "refused";
    return response;
  }

  /** Undefined where the worker was not answered. */
  async #ask(url: string, init: RequestInit, question: RunQuestion): Promise<BodyAnswer | undefined> {
    const { signal, headers, ...plain } = init;
    signal?.throwIfAborted();
    if (this.#ended !== undefined) throw this.#ended;
    const id = ++ids;
    signal?.addEventListener("abort", () => this.#drop(id, signal.reason), { once: true });
    try {
      const answered = new Promise<BodyAnswer>((answer, fail) => this.#asked.set(id, { answer, fail }));
      this.#tell({ kind: "fetch", id, url, init: { ...plain, headers: [...new Headers(headers)] }, ...question });
      return await answered;
    } catch (error) {
      signal?.throwIfAborted();
      if (this.#ended !== undefined) throw error;
      return undefined;
    }
  }

  /** Whether a piece stands for bytes that the worker has. */
  isStandIn({ buffer }: Uint8Array): boolean {
    return this.#standIns.has(buffer);
  }

  hear(news: BodyNews): void {
    const { id } = news;
    if (news.kind === "answered") {
      this.#asked.get(id)?.answer(news);
      this.#asked.delete(id);
    } else if (news.kind === "arrived") {
      for (const piece of this.#standInsOf(news.byteLength, news.head)) this.#bodies.get(id)?.enqueue(piece);
    } else if (news.kind === "arrivedAll") {
      this.#end(id, (body) => body.close());
    } else {
      const error = new TypeError(news.reason);
      this.#asked.get(id)?.fail(error);
      this.#end(id, (body) => body.error(error));
    }
  }

  #responseOf({ id, isKept, refusal, status, headers, url, type }: BodyAnswer): Response {
    const body = isKept ? this.#bodyOf(id) : new Response(refusal).body;
    // A Response that is made by hand has neither an address nor a type.
    const response = { status, headers: new Headers(headers), url, type, body, bodyUsed: false } as Partial<Response> as Response;
    this.#responses.add(response);
    return response;
  }

  /** The worker reads it from when it is read here on: what was answered may not be what was asked for. */
  #bodyOf(id: number): ReadableStream<Uint8Array> {
    let isRead = false;
    const pull = () => {
      if (!isRead) this.#tell({ kind: "read", id });
      isRead = true;
    };
    const start = (controller: ReadableStreamDefaultController<Uint8Array>) => void this.#bodies.set(id, controller);
    return new ReadableStream({ start, pull, cancel: () => this.#drop(id) }, { highWaterMark: 0 });
  }

  *#standInsOf(byteLength: number, head: Uint8Array | undefined): Generator<Uint8Array> {
    if (head !== undefined) {
      this.#standIns.add(head.buffer);
      yield head;
    }
    for (let left = byteLength - (head?.length ?? 0); left > 0; left -= blank.byteLength) {
      yield new Uint8Array(blank, 0, Math.min(left, blank.byteLength));
    }
  }

  #drop(id: number, reason?: unknown): void {
    this.#tell({ kind: "drop", id });
    const error = reason instanceof Error ? reason : new DOMException("the request was given up", "AbortError");
    this.#asked.get(id)?.fail(error);
    this.#end(id, (body) => body.error(error));
  }

  #end(id: number, end: (body: ReadableStreamDefaultController<Uint8Array>) => void): void {
    const body = this.#bodies.get(id);
    this.#asked.delete(id);
    this.#bodies.delete(id);
    try {
      if (body !== undefined) end(body);
    } catch {
      // its reader has left
    }
  }

  #fail(error: Error): void {
    this.#ended = error;
    for (const { fail } of this.#asked.values()) fail(error);
    for (const id of [...this.#bodies.keys()]) this.#end(id, (body) => body.error(error));
  }

  #tell(message: ToWorker): void {
    this.#worker.post(message);
  }
}
