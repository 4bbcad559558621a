import { abortable, type TaskContext } from "../tasks/context.js";

/** A value and how much memory it holds, in bytes. */
export interface Weighed<Value> {
  readonly value: Value;
  readonly byteLength: number;
}

interface Entry<Value> {
  readonly value: Promise<Value>;
  readonly controller: AbortController;
  /** Callers that wait for the value. */
  waiters: number;
  /** Known, and counted, once the value is there. */
  byteLength: number | undefined;
}

/**
 * Reads each value once, however many ask for it at a time, and keeps the last used ones within a budget. A failed read is not
 * kept. A caller that aborts leaves the read to the others; the last one to leave aborts it.
 */
export class SharedReads<Value> {
  readonly #limit: number;
  readonly #entries = new Map<string, Entry<Value>>();
  #used = 0;

  /** `limit`: most bytes of values that are kept; the last one read is kept whatever its size. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Bytes of the values that are kept. */
  get used(): number {
    return this.#used;
  }

  /** The value of the key, kept or read. Throws what `read` throws, and the signal's reason on abort. */
  async get(key: string, read: (context: TaskContext) => Promise<Weighed<Value>>, { signal }: TaskContext = {}): Promise<Value> {
    signal?.throwIfAborted();
    const entry = this.#entries.get(key) ?? this.#start(key, read);
    this.#touch(key, entry);
    if (entry.byteLength !== undefined) return entry.value;
    entry.waiters++;
    try {
      return await abortable(entry.value, { signal });
    } finally {
      entry.waiters--;
      if (entry.waiters === 0 && entry.byteLength === undefined) this.#abandon(key, entry, signal?.reason);
    }
  }

  #start(key: string, read: (context: TaskContext) => Promise<Weighed<Value>>): Entry<Value> {
    const controller = new AbortController();
    const value = read({ signal: controller.signal }).then(
      (weighed) => {
        this.#keep(key, entry, weighed.byteLength);
        return weighed.value;
      },
      (error: unknown) => {
        this.#forget(key, entry);
        throw error;
      },
    );
    const entry: Entry<Value> = { value, controller, waiters: 0, byteLength: undefined };
    return entry;
  }

  #touch(key: string, entry: Entry<Value>): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
  }

  #keep(key: string, entry: Entry<Value>, byteLength: number): void {
    if (this.#entries.get(key) !== entry) return;
    entry.byteLength = byteLength;
    this.#used += byteLength;
    for (const [otherKey, other] of this.#entries) {
      if (this.#used <= this.#limit) return;
      if (other !== entry && other.byteLength !== undefined) this.#forget(otherKey, other);
    }
  }

  #abandon(key: string, entry: Entry<Value>, reason: unknown): void {
    this.#forget(key, entry);
    entry.controller.abort(reason);
  }

  #forget(key: string, entry: Entry<Value>): void {
    if (this.#entries.get(key) !== entry) return;
    this.#entries.delete(key);
    this.#used -= entry.byteLength ?? 0;
  }
}
