import { type ByteRange, endOf } from "../../bytes/ranges.js";
import type { ByteBudget, Release } from "../../tasks/budget.js";
import type { TaskContext } from "../../tasks/context.js";

/**
 * Most bytes of a request for a stream. What a page reads more slowly than it arrives, Chromium keeps in the page's own memory, up to
 * 57 MB of each response (measured in version 156).
 */
const longestSegment = 20 * 1024 * 1024;

/** Most bytes that were asked for by streams of one storage and are not read yet. */
export const mostUnread = 32 * 1024 * 1024;

/** Bytes of a segment that are still to come when the next one is asked for: about what arrives during a round trip. */
const aheadLength = 2 * 1024 * 1024;

/** Asks for a segment; its pieces are the caller's until the next one is asked for. Undefined where there is no such file. */
export type OpenSegment = (segment: ByteRange, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array> | undefined>;

/**
 * The bytes of a range in order, by one request a segment: the next is on its way before the one before ends, and what is asked for and not
 * read stays within the budget.
 * @throws what `open` and its pieces throw, and what `absent` makes where there is no such file.
 */
export async function* inSegments(
  range: ByteRange,
  open: OpenSegment,
  absent: () => Error,
  unread: ByteBudget,
  context: TaskContext,
): AsyncGenerator<Uint8Array> {
  const segments = segmentsOf(range);
  const leaving = new AbortController();
  const signal = context.signal === undefined ? leaving.signal : AbortSignal.any([context.signal, leaving.signal]);
  const underWay = new Set<SegmentOnItsWay>();
  const start = (segment: ByteRange, release: Release) => {
    const begun = begin(open(segment, signal), release);
    underWay.add(begun);
    return begun;
  };
  let following: SegmentOnItsWay | undefined;
  try {
    for (const [index, segment] of segments.entries()) {
      const current = following ?? start(segment, await unread.acquire(segment.length, context));
      const next = segments[index + 1];
      following = undefined;
      let left = segment.length;
      for (let piece = await current.next(); piece !== undefined; piece = await current.next()) {
        if (piece === "absent") throw absent();
        left -= piece.length;
        yield piece;
        current.release(piece.length);
        const release = following === undefined && next !== undefined && left <= aheadLength ? unread.tryAcquire(next.length) : undefined;
        if (release !== undefined && next !== undefined) following = start(next, release);
      }
      current.release();
      underWay.delete(current);
    }
  } finally {
    if (underWay.size > 0) leaving.abort(); // else closing one would wait for its answer
    for (const segment of underWay) await segment.close();
  }
}

function segmentsOf(range: ByteRange): ByteRange[] {
  const segments: ByteRange[] = [];
  for (let { offset } = range; offset < endOf(range); offset += longestSegment) {
    segments.push({ offset, length: Math.min(longestSegment, endOf(range) - offset) });
  }
  return segments;
}

interface SegmentOnItsWay {
  readonly release: Release;
  next(): Promise<Uint8Array | "absent" | undefined>;
  close(): Promise<void>;
}

function begin(opened: ReturnType<OpenSegment>, release: Release): SegmentOnItsWay {
  const opening = opened.then((pieces) => pieces?.[Symbol.asyncIterator]());
  // Asked for at once, as the answer's connection is closed only by those who began to read it.
  let first: Promise<IteratorResult<Uint8Array>> | undefined = opening.then((pieces) => pieces?.next() ?? ended);
  first.catch(() => undefined); // whoever reads on hears of it
  return {
    release,
    async next() {
      const pieces = await opening;
      if (pieces === undefined) return "absent";
      const { done, value } = await (first ?? pieces.next());
      first = undefined;
      return done ? undefined : value;
    },
    async close() {
      release();
      await first?.catch(() => undefined);
      await (await opening.catch(() => undefined))?.return?.();
    },
  };
}

const ended = { done: true, value: undefined } as const;
