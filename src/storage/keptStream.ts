import type { ByteRange } from "../bytes/ranges.js";
import type { ReadableStorage } from "./storage.js";

/** How a {@link BodyKeeper} asks, beside what `fetch` takes. */
export interface KeptQuestion {
  /** Where in its file the body begins. */
  readonly offset: number;
  /** Bytes that were asked for; a body that brings more is none. */
  readonly length: number;
  /** First bytes of the body that are to be seen here. */
  readonly headLength: number;
  /** How long the body may bring nothing before it counts as broken, in milliseconds. */
  readonly idleTimeoutMs: number;
}

/** A thread that makes requests and keeps the bytes that they bring, which it is to work on: whoever asked decides what to ask, and counts. */
export interface BodyKeeper {
  /**
   * As `fetch`. Of a body that is kept there, pieces are stand-ins: as long as what came, without its bytes, but for the head. Other bodies are
   * whole.
   */
  fetch(url: string, init: RequestInit, question: KeptQuestion): Promise<Response>;
  /** Whether the other thread keeps the response's body, and sees to it that it does not stand still. */
  keepsBodyOf(response: Response): boolean;
}

/** As {@link ReadableStorage.stream}; pieces are stand-ins where the keeper has the bytes. */
export type StreamKept = (
  path: string,
  range: ByteRange,
  options: { readonly keeper: BodyKeeper; readonly signal?: AbortSignal | undefined },
) => AsyncIterable<Uint8Array>;

interface StreamPair {
  readonly plain: ReadableStorage["stream"];
  readonly kept: StreamKept;
}

// Beside the storages, not in them: a caller's own storage that passes on what another one streams has to see the bytes.
const streams = new WeakMap<ReadableStorage, StreamPair>();

/** How a storage streams what another thread keeps; undefined where its bytes have to pass through this one, or a caller put a stream of his own in. */
export function keptStreamOf(storage: ReadableStorage): StreamKept | undefined {
  const pair = streams.get(storage);
  return pair?.plain === storage.stream ? pair?.kept : undefined;
}

/** Notes how a storage streams what another thread keeps. */
export function keepsStreams<Storage extends ReadableStorage>(storage: Storage, stream: StreamKept | undefined): Storage {
  if (stream !== undefined) streams.set(storage, { plain: storage.stream, kept: stream });
  return storage;
}
