import type { TaskContext } from "../tasks/context.js";
import type { Codec, DecodeRequest } from "./codec.js";
import { allowedLength, cut, joined, once, undecodable, withinLength } from "./decodedLength.js";

/** gzip (RFC 1952), one member. Its CRC-32 and length are verified. */
export const gzip: Codec = /* @__PURE__ */ deflateCodec("gzip", "gzip", lengthTrailer);

/** zlib (RFC 1950). Its Adler-32 is verified. */
export const zlib: Codec = /* @__PURE__ */ deflateCodec("zlib", "deflate", adlerTrailer);

/** What the last four bytes of a container must be, given all that was decoded. */
interface Trailer {
  add(decoded: Uint8Array): void;
  value(): number;
  readonly littleEndian: boolean;
}

// Platforms differ on what may follow the end of the data (Node 20 takes anything after zlib, zeros and more members after
// gzip), so the trailer, which ends the container, is looked for in the last bytes of the value.
function lengthTrailer(): Trailer {
  let length = 0;
  return {
    add(decoded) {
      length += decoded.length;
    },
    value: () => length >>> 0,
    littleEndian: true,
  };
}

function adlerTrailer(): Trailer {
  let low = 1;
  let high = 0;
  return {
    add(decoded) {
      // 3,800 bytes keep both sums below 2^32 (RFC 1950, section 9: 5,552 is the most with exact 32-bit sums).
      for (const run of cut(decoded, 3800)) {
        for (const byte of run) {
          low += byte;
          high += low;
        }
        low %= 65521;
        high %= 65521;
      }
    },
    value: () => high * 65536 + low,
    littleEndian: false,
  };
}

function deflateCodec(name: string, format: CompressionFormat, newTrailer: () => Trailer): Codec {
  const stream = (pieces: AsyncIterable<Uint8Array>, request: DecodeRequest, context?: TaskContext) =>
    withinLength(name, inflate(name, format, newTrailer(), pieces, request), request, context);
  return {
    name,
    async decode(bytes, request, context) {
      context?.signal?.throwIfAborted();
      return joined(stream(once(bytes), request, context), request);
    },
    stream,
  };
}

async function* inflate(
  name: string,
  format: CompressionFormat,
  trailer: Trailer,
  pieces: AsyncIterable<Uint8Array>,
  request: DecodeRequest,
): AsyncGenerator<Uint8Array> {
  const source = new CompressedSource(name, pieces, request);
  const reader = source.readable().pipeThrough(new DecompressionStream(format)).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      trailer.add(value);
      yield value;
    }
  } catch (cause) {
    if (source.failure !== undefined) throw source.failure.reason;
    throw undecodable(request, `a ${name} value`, "bytes that do not decode", cause);
  } finally {
    source.close();
    await reader.cancel().catch(() => undefined);
  }
  const tail = source.lastFour(trailer.littleEndian);
  if (tail !== trailer.value()) throw undecodable(request, `a ${name} value that ends with its trailer`, "more bytes, or a wrong trailer");
}

// deflate expands at most 1,032-fold, and a platform may queue all that one piece gives: 8 KiB bound that to about 8 MiB.
const longestInput = 8 * 1024;

/** Most compressed bytes of a value: stored blocks add five bytes to 65,535, and headers hold a file's name at most. */
const longestCompressed = (decoded: number) => decoded + Math.ceil(decoded / 1000) + 64 * 1024;

/** The compressed pieces as a stream for the platform, remembering its last bytes and what the pieces threw. */
class CompressedSource {
  failure: { readonly reason: unknown } | undefined;
  readonly #name: string;
  readonly #pieces: AsyncIterator<Uint8Array>;
  readonly #request: DecodeRequest;
  #waiting: Generator<Uint8Array> = cut(new Uint8Array(), longestInput);
  #tail = new Uint8Array();
  #length = 0;

  constructor(name: string, pieces: AsyncIterable<Uint8Array>, request: DecodeRequest) {
    this.#name = name;
    this.#pieces = pieces[Symbol.asyncIterator]();
    this.#request = request;
  }

  readable(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return new ReadableStream({ pull: (controller) => this.#pull(controller) }, { highWaterMark: 0 });
  }

  /** Ends the source; not waited for, as a piece may be on its way. */
  close(): void {
    this.#pieces.return?.().catch(() => undefined);
  }

  /** The last four bytes as an integer; undefined where there were fewer. */
  lastFour(littleEndian: boolean): number | undefined {
    if (this.#tail.length < 4) return undefined;
    return new DataView(this.#tail.buffer, this.#tail.byteOffset).getUint32(0, littleEndian);
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): Promise<void> {
    try {
      const slice = await this.#next();
      if (slice === undefined) controller.close();
      else controller.enqueue(slice);
    } catch (reason) {
      this.failure = { reason };
      controller.error(reason);
    }
  }

  async #next(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    for (;;) {
      const waiting = this.#waiting.next();
      // A copy: the stream holds the slice until the platform takes it, and the piece may be reused by then.
      if (!waiting.done) return this.#counted(waiting.value.slice());
      const piece = await this.#pieces.next();
      if (piece.done) return undefined;
      this.#waiting = cut(piece.value, longestInput);
    }
  }

  #counted(slice: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    this.#length += slice.length;
    const most = longestCompressed(allowedLength(this.#request));
    if (this.#length > most) throw undecodable(this.#request, `at most ${most} bytes of ${this.#name}`, `${this.#length} or more`);
    this.#tail = Uint8Array.of(...this.#tail, ...slice.slice(-4)).slice(-4);
    return slice;
  }
}
