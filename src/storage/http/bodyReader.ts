/** A body that is read piece by piece. */
export interface BodyReader {
  /** The next piece; it is the caller's until the next call. */
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(reason?: unknown): Promise<void>;
}

/** Fewest and most bytes of the memory that is read into. */
const leastMemory = 4 * 1024;
const mostMemory = 1024 * 1024;

/** Memory of long bodies that have ended, for those to come: each would be garbage of its size. */
const idle: ArrayBuffer[] = [];
const mostIdle = 4;

/**
 * Reads a body into the same memory again and again, where the platform can (`mode: "byob"`): pieces that fetch allocates stay
 * until the next full garbage collection, which adds hundreds of megabytes to a page that downloads.
 * @param length of the whole body in bytes, where it is known; a wrong one does no harm.
 */
export function bodyReader(body: ReadableStream<Uint8Array>, length: number | undefined): BodyReader {
  const reader = byteReader(body);
  if (reader === undefined) return body.getReader();
  let memory = takeMemory(length ?? mostMemory);
  return {
    async read() {
      const result = await reader.read(new Uint8Array(memory));
      // The stream takes the memory away while it fills it, and gives it back in another buffer.
      if (result.value !== undefined) memory = result.value.buffer;
      if (result.done && memory.byteLength === mostMemory && idle.length < mostIdle) idle.push(memory);
      return result;
    },
    cancel: (reason) => reader.cancel(reason),
  };
}

function takeMemory(length: number): ArrayBuffer {
  const short = Math.max(leastMemory, length);
  return short < mostMemory ? new ArrayBuffer(short) : (idle.pop() ?? new ArrayBuffer(mostMemory));
}

/** Undefined for streams that bring their own memory: in Firefox and Safari, and what a custom fetch makes. */
function byteReader(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | undefined {
  try {
    return body.getReader({ mode: "byob" });
  } catch {
    return undefined;
  }
}
