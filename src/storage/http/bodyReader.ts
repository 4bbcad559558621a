/** A body that is read piece by piece. */
export interface BodyReader {
  /** The next piece; it is the caller's until the next call. */
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(reason?: unknown): Promise<void>;
}

/** Fewest and most bytes of the memory that is read into. */
const leastMemory = 4 * 1024;
const mostMemory = 1024 * 1024;

/** How much longer than the piece before one is at least: what has come at once says little of how fast more comes. */
const mostGrowth = 4;

/** Memory of long bodies that have ended, for those to come: each would be garbage of its size. */
const idle: ArrayBuffer[] = [];
const mostIdle = 4;

/**
 * Reads a body into the same memory again and again, where the platform can (`mode: "byob"`): pieces that fetch allocates stay
 * until the next full garbage collection, which adds hundreds of megabytes to a page that downloads.
 * @param length of the whole body in bytes, where it is known; a wrong one does no harm.
 * @param pieceMs how long a piece may take to become longer, in milliseconds: each costs its reader some time. A body that breaks off loses what
 *   came of its last one. Without it, each is what is there.
 */
export function bodyReader(body: ReadableStream<Uint8Array>, length: number | undefined, pieceMs = 0): BodyReader {
  const reader = byteReader(body);
  if (reader === undefined) return body.getReader();
  let memory = takeMemory(length ?? mostMemory);
  let least = 1;
  let left = length ?? Number.POSITIVE_INFINITY;
  let before = performance.now();
  return {
    async read() {
      const { done, value } = await reader.read(new Uint8Array(memory), { min: Math.max(1, Math.min(least, left, memory.byteLength)) });
      // The stream takes the memory away while it fills it, and gives it back in another buffer.
      if (value !== undefined) memory = value.buffer;
      if (value !== undefined && value.byteLength > 0) {
        left -= value.byteLength;
        const now = performance.now();
        least = Math.floor(value.byteLength * Math.min(mostGrowth, pieceMs / Math.max(now - before, 0.1)));
        before = now;
        return { done: false, value }; // the last one comes with the end where fewer came than were asked for
      }
      if (done && memory.byteLength === mostMemory && idle.length < mostIdle) idle.push(memory);
      return { done };
    },
    cancel: (reason) => reader.cancel(reason),
  };
}

/** TypeScript does not know `min` yet: at least so many bytes, unless the body ends. Browsers that do not either give what is there. */
interface ByteReader {
  read(
    memory: Uint8Array<ArrayBuffer>,
    options: { readonly min: number },
  ): Promise<{ readonly done: boolean; readonly value?: Uint8Array<ArrayBuffer> | undefined }>;
  cancel(reason?: unknown): Promise<void>;
}

function takeMemory(length: number): ArrayBuffer {
  const short = Math.max(leastMemory, length);
  return short < mostMemory ? new ArrayBuffer(short) : (idle.pop() ?? new ArrayBuffer(mostMemory));
}

/** Undefined for streams that bring their own memory: in Firefox and Safari, and what a custom fetch makes. */
function byteReader(body: ReadableStream<Uint8Array>): ByteReader | undefined {
  try {
    return body.getReader({ mode: "byob" });
  } catch {
    return undefined;
  }
}
