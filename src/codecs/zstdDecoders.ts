import { Decompress } from "fzstd";
import { ZSTDDecoder } from "zstddec/stream";

let loading: Promise<ZSTDDecoder | undefined> | undefined;

/**
 * libzstd as WebAssembly, made on first use; `undefined` where the page forbids it (a CSP without `'wasm-unsafe-eval'`, or
 * without `connect-src data:`, by which zstddec loads itself). zstddec remembers a failed start, so it is not tried again.
 */
export function loadLibzstd(): Promise<ZSTDDecoder | undefined> {
  loading ??= startLibzstd();
  return loading;
}

async function startLibzstd(): Promise<ZSTDDecoder | undefined> {
  const decoder = new ZSTDDecoder();
  return decoder.init().then(
    () => decoder,
    () => undefined,
  );
}

/** Thrown where a decoder stops at a damaged frame. */
export class ZstdDamage extends Error {}

/** What a decoder is told about the frame: the window that it holds, in bytes, known once its header has passed. */
interface FrameMemory {
  readonly windowSize: number;
}

/** Decodes the parts of one frame, each within one block, as they come; a new piece of at most 128 KiB at a time. */
export type ZstdStream = (parts: AsyncIterable<Uint8Array>, frame: FrameMemory) => AsyncGenerator<Uint8Array>;

// zstddec has no way to free a decoder that met an error, as it stays in its loop: what such frames held is lost to the page.
const mostLost = 64 * 1024 * 1024;
let lost = 0;

/** The streaming decoder to use: libzstd's where it runs and damaged frames have not cost it too much memory. */
export function zstdStream(libzstd: ZSTDDecoder | undefined): ZstdStream {
  return libzstd === undefined || lost > mostLost ? streamByFzstd : (parts, frame) => streamByLibzstd(libzstd, parts, frame);
}

/**
 * libzstd, piece by piece. zstddec's generator takes its next input when the last is used up, and then gives output before it
 * asks again: so it is only resumed while a part waits, and needs no bytes that have not arrived. Verifies content checksums.
 */
async function* streamByLibzstd(libzstd: ZSTDDecoder, parts: AsyncIterable<Uint8Array>, frame: FrameMemory): AsyncGenerator<Uint8Array> {
  const waiting: Uint8Array[] = [];
  const outputs = libzstd.decodeStreaming(take(waiting));
  let ended = false;
  try {
    for await (const part of parts) {
      waiting.push(part);
      while (waiting.length > 0) yield* progress(outputs, waiting);
    }
    while (!ended) {
      const output = resume(outputs);
      ended = output === undefined;
      if (output?.length === 0) throw new ZstdDamage("a damaged block");
      if (output !== undefined) yield output;
    }
  } finally {
    waiting.length = 0;
    if (!ended && !drained(outputs)) lost += frame.windowSize + 1024 * 1024;
  }
}

function* take(waiting: Uint8Array[]): Generator<Uint8Array> {
  for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) yield part;
}

/** One step; without output it must have taken the part that waits, or the decoder stands still at an error. */
function* progress(outputs: Generator<Uint8Array>, waiting: readonly Uint8Array[]): Generator<Uint8Array> {
  const before = waiting.length;
  const output = resume(outputs);
  if (output === undefined) throw new ZstdDamage("an early end");
  if (output.length > 0) yield output;
  else if (waiting.length === before) throw new ZstdDamage("a damaged block");
}

function resume(outputs: Generator<Uint8Array>): Uint8Array | undefined {
  try {
    const { done, value } = outputs.next();
    return done ? undefined : value;
  } catch (cause) {
    throw new ZstdDamage("an incomplete frame", { cause });
  }
}

/** Lets the decoder finish what it holds (at most one block) and free its memory; false where it cannot. */
function drained(outputs: Generator<Uint8Array>): boolean {
  for (let step = 0; step < 4; step++) {
    try {
      if (outputs.next().done) return true;
    } catch {
      return true;
    }
  }
  return false;
}

/**
 * fzstd, in plain JavaScript: a fifth of libzstd's speed. It holds the window and one block. It neither verifies content
 * checksums nor notices matches before the frame's start and blocks that decode to too much, and a block made for it can keep it busy
 * for seconds; the decoded length is checked by the caller.
 */
async function* streamByFzstd(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let blocks: Uint8Array[] = [];
  const decoder = new Decompress((block) => blocks.push(block));
  for await (const part of parts) {
    try {
      decoder.push(part.slice()); // it keeps what is no whole block yet, and the part may be reused by then
    } catch (cause) {
      throw new ZstdDamage("a damaged block", { cause });
    }
    const ready = blocks;
    blocks = [];
    yield* ready;
  }
}
