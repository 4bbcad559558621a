import { type ByteRange, endOf } from "../../bytes/ranges.js";
import { StorageError } from "../../errors.js";
import { memoryStorage } from "../memory.js";
import type { FileFacts, ReadableStorage } from "../storage.js";
import { absentFileError } from "../streamRange.js";

/** Files by path. */
export type Files = Map<string, Uint8Array>;

/** Bytes that were sent. */
export interface SentRange extends ByteRange {
  readonly path: string;
}

/** A place in memory that can be changed and go away, and counts what it sends. Its snapshots keep to the version of each file that they saw. */
export class FakeSource {
  readonly files: Files;
  readonly sent: SentRange[] = [];
  /** Calls of `facts` that ask. */
  asked = 0;
  /** False: nothing is answered. */
  isUp = true;
  /** What tells versions apart: an ETag, or nothing. */
  readonly validators: "etag" | "none";
  /** Called before bytes are sent. */
  onSend: (range: SentRange) => Promise<void> | void = () => {};

  /** Length of the pieces of its streams, in bytes; it has none unless given. */
  readonly pieceLength: number | undefined;

  constructor(files: Files, validators: "etag" | "none" = "etag", pieceLength?: number) {
    this.files = files;
    this.validators = validators;
    this.pieceLength = pieceLength;
  }

  get sentBytes(): number {
    return this.sent.reduce((sum, { length }) => sum + length, 0);
  }

  get storage(): ReadableStorage {
    return this.#open();
  }

  #open(): ReadableStorage {
    const storage = this.#openWhole();
    const { pieceLength } = this;
    return pieceLength === undefined
      ? storage
      : { ...storage, stream: (path, range, options) => inPieces(storage, path, range, { ...options, pieceLength }) };
  }

  #openWhole(): ReadableStorage {
    const seen = new Map<string, FileFacts>();
    return {
      name: "https://source.example/run",
      read: async (path, { range, longest, signal } = {}) => {
        this.#requireUp(path);
        const bytes = this.files.get(path);
        const answer = await memoryStorage(this.files).read(path, { range, signal });
        if (bytes === undefined || answer === undefined) return undefined;
        if (longest !== undefined && answer.length > longest) throw failure(path, "length");
        const sent = { path, offset: range?.offset ?? 0, length: answer.length };
        this.sent.push(sent);
        await this.onSend(sent);
        signal?.throwIfAborted();
        this.#requireUp(path);
        const facts = this.#factsOf(bytes);
        const before = seen.get(path) ?? facts;
        if (before.etag !== facts.etag) throw failure(path, "changed");
        seen.set(path, before);
        return answer;
      },
      list: async (prefix, options) => {
        this.#requireUp(prefix);
        return memoryStorage(this.files).list(prefix, options);
      },
      ...(this.validators === "etag" && {
        facts: async (path, { told = false } = {}) => {
          if (told) return seen.get(path) ?? {};
          this.asked += 1;
          this.#requireUp(path);
          const bytes = this.files.get(path);
          return bytes && this.#factsOf(bytes);
        },
      }),
      snapshot: () => this.#open(),
    };
  }

  #factsOf(bytes: Uint8Array): FileFacts {
    if (this.validators === "none") return {};
    const mark = marks.get(bytes) ?? ++lastMark;
    marks.set(bytes, mark);
    return { etag: `"${mark}"`, size: bytes.length };
  }

  #requireUp(path: string): void {
    if (!this.isUp) throw failure(path, "network");
  }
}

/** A range by reads, all into the same memory. */
async function* inPieces(
  storage: ReadableStorage,
  path: string,
  range: ByteRange,
  { pieceLength, signal }: { readonly pieceLength: number; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<Uint8Array> {
  const memory = new Uint8Array(pieceLength);
  for (let { offset } = range; offset < endOf(range); offset += pieceLength) {
    const length = Math.min(pieceLength, endOf(range) - offset);
    const bytes = await storage.read(path, { range: { offset, length }, signal });
    if (bytes === undefined) throw absentFileError(path, range);
    memory.set(bytes);
    yield memory.subarray(0, length);
  }
}

/** Each array is a version of its own. */
const marks = new WeakMap<Uint8Array, number>();
let lastMark = 0;

const failure = (path: string, reason: "network" | "length" | "changed") =>
  new StorageError({ path, reason, message: "no answer, as the test wants it" });

/** Where bytes were sent more than once. */
export function sentTwice(sent: readonly SentRange[]): SentRange[] {
  return sent.filter((one, index) =>
    sent.slice(0, index).some((other) => other.path === one.path && other.offset < endOf(one) && endOf(other) > one.offset),
  );
}
