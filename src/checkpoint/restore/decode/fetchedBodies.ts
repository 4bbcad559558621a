import { type BodyReader, bodyReader } from "../../../storage/http/bodyReader.js";
import { mayPass, refusalLength } from "../../../storage/http/refusal.js";
import type { BodyRequest, FromWorker } from "./messages.js";

/** How long a piece may take to become longer, in milliseconds: each is a message. */
const pieceMs = 20;

/** Bytes that came since they were told last, of which it is told again: whoever asked does little more than count. */
const tellLength = 2 * 1024 * 1024;

/** Bodies that a worker fetches, by the place in their file at which they go on. */
export class FetchedBodies {
  readonly #bodies = new Map<number, FetchedBody>();
  readonly #requests = new Map<number, AbortController>();
  readonly #tell: (message: FromWorker) => void;
  readonly #onBody: () => void;

  /** @param onBody is called when something of a body can be had. */
  constructor(tell: (message: FromWorker) => void, onBody: () => void) {
    this.#tell = tell;
    this.#onBody = onBody;
  }

  /** Makes a request. That it failed is told. */
  async fetch(request: BodyRequest): Promise<void> {
    const { id, url, init } = request;
    const controller = new AbortController();
    this.#requests.set(id, controller);
    try {
      const response = await fetch(url, { ...init, signal: controller.signal });
      const { status, headers, type, body } = response;
      const isPart = status === 206 && body !== null;
      const refusal = mayPass(status) && body !== null ? await beginningOf(body) : undefined;
      this.#tell({ kind: "answered", id, status, headers: [...headers], url: response.url, type, isKept: isPart, refusal });
      if (!isPart) return this.drop(id);
      this.#bodies.set(id, new FetchedBody(body, request, this.#tell, () => controller.abort()));
    } catch (error) {
      this.drop(id);
      this.#tell({ kind: "broken", id, reason: String(error) });
    }
  }

  /** Whoever asked for a body has looked at the answer, and wants its bytes. */
  read(id: number): void {
    this.#bodies.get(id)?.begin();
    this.#onBody();
  }

  /** The body of a run that goes on at a byte of its file, if it has come so far. One that ends there comes first: its end is to be heard of. */
  at(run: number, position: number): FetchedBody | undefined {
    const there: FetchedBody[] = [];
    for (const [id, body] of this.#bodies) {
      if (body.ended) this.drop(id);
      else if (body.run === run && body.begun && body.position === position) there.push(body);
    }
    return there.find(({ start }) => start < position) ?? there[0];
  }

  /** Reads the bodies of a run to their ends: only there is it known, and told, that nothing more comes. */
  async drain(run: number): Promise<void> {
    for (const [id, body] of this.#bodies) {
      if (body.run !== run || !body.begun) continue;
      while ((await body.next()) !== undefined);
      this.drop(id);
    }
  }

  /** Gives a request and its body up. */
  drop(id: number): void {
    this.#requests.get(id)?.abort();
    this.#requests.delete(id);
    this.#bodies.delete(id);
  }
}

/** A body; how much of it came is told, if not of every piece. */
export class FetchedBody {
  readonly run: number;
  /** Where in the file its first piece begins. */
  readonly start: number;
  /** Where in the file its next piece begins. */
  position: number;
  /** Whether it may be read. */
  begun = false;
  /** Whether all of it was given, or nothing more comes. */
  ended = false;
  readonly #reader: BodyReader;
  readonly #request: BodyRequest;
  readonly #tell: (message: FromWorker) => void;
  readonly #abort: () => void;
  #received = 0;
  /** Received bytes that were not told yet. */
  #untold = 0;
  #first: Promise<Uint8Array | undefined> | undefined;

  constructor(body: ReadableStream<Uint8Array>, request: BodyRequest, tell: (message: FromWorker) => void, abort: () => void) {
    this.run = request.run;
    this.start = request.offset;
    this.position = this.start;
    this.#reader = bodyReader(body, request.length, pieceMs);
    this.#request = request;
    this.#tell = tell;
    this.#abort = abort;
  }

  /** Reads the first piece at once: until then nobody knows whether anything comes. */
  begin(): void {
    this.begun = true;
    this.#first ??= this.#read();
  }

  /** The next piece, until it is called again; undefined where nothing more comes, which was told. */
  async next(): Promise<Uint8Array | undefined> {
    const piece = await (this.#first ?? this.#read());
    this.#first = undefined;
    if (piece === undefined) this.ended = true;
    else this.position += piece.length;
    return piece;
  }

  async #read(): Promise<Uint8Array | undefined> {
    const { id, length, headLength, idleTimeoutMs } = this.#request;
    try {
      const { done, value } = await inTime(this.#reader.read(), idleTimeoutMs, this.#abort);
      if (done || value === undefined) return this.#end({ kind: "arrivedAll", id });
      const head = this.#received < headLength ? value.slice(0, headLength - this.#received) : undefined;
      const isFirst = this.#received === 0;
      this.#received += value.length;
      this.#untold += value.length;
      if (this.#received > length) return this.#tellArrived(head); // too much: whoever asked knows what that means
      if (isFirst || head !== undefined || this.#untold >= tellLength) this.#tellArrived(head);
      return value;
    } catch (error) {
      return this.#end({ kind: "broken", id, reason: error instanceof Error ? error.message : String(error) });
    }
  }

  #tellArrived(head?: Uint8Array): undefined {
    this.#tell({ kind: "arrived", id: this.#request.id, byteLength: this.#untold, head });
    this.#untold = 0;
  }

  #end(message: FromWorker): undefined {
    if (this.#untold > 0) this.#tellArrived();
    this.#tell(message);
  }
}

/** Whoever asked waits no longer for it than for an answer. */
async function beginningOf(body: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(refusalLength);
  const reader = body.getReader();
  let length = 0;
  while (length < refusalLength) {
    const { done, value } = await reader.read();
    if (done) break;
    const some = value.subarray(0, refusalLength - length);
    bytes.set(some, length);
    length += some.length;
  }
  return bytes.slice(0, length);
}

/** Where nothing comes for so long, whoever waits is told so. */
async function inTime<Value>(step: Promise<Value>, ms: number, abort: () => void): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`no byte came for ${ms} ms`));
      abort();
    }, ms);
  });
  try {
    return await Promise.race([step, late]);
  } finally {
    clearTimeout(timer);
  }
}
