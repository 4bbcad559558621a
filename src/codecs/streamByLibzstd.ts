import { cut } from "./decodedLength.js";
import type { LibzstdFunctions } from "./libzstd.js";
import { ZstdDamage } from "./zstdStream.js";

/** Bytes of a piece: large enough that handing it on costs nothing beside decoding it. */
const pieceLength = 512 * 1024;
/** Most bytes that are given to libzstd at once: a block. */
const longestInput = 128 * 1024;
/** `ZSTD_inBuffer` and `ZSTD_outBuffer`: address, size and position, 32 bits each. */
const bufferBytes = 12;

/** Memory of streams that have ended, for those to come. */
const idle: Uint8Array[] = [];
const mostIdle = 4;

/**
 * Decodes with libzstd, and verifies content checksums. Pieces are views of memory that is used again and again: what a GPU queue
 * has seen stays until the next full garbage collection, which adds hundreds of megabytes to a page that restores.
 * @throws ZstdDamage for a damaged frame, RangeError where WebAssembly has no memory for its window.
 */
export async function* streamByLibzstd(functions: LibzstdFunctions, parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new FrameDecoder(functions);
  const piece = idle.pop() ?? new Uint8Array(pieceLength);
  try {
    for await (const part of parts) {
      for (const input of cut(part, longestInput)) {
        decoder.give(input);
        while (decoder.advance()) {
          if (decoder.isFull) yield decoder.take(piece);
        }
      }
    }
    const rest = decoder.take(piece);
    if (rest.length > 0) yield rest;
    if (!decoder.ended) throw new ZstdDamage("an incomplete frame");
  } finally {
    decoder.free();
    if (idle.length < mostIdle) idle.push(piece);
  }
}

/** A frame on its way through libzstd's memory. */
class FrameDecoder {
  readonly #functions: LibzstdFunctions;
  readonly #context: number;
  readonly #input: number;
  readonly #output: number;
  /** The two buffer structures, the input's first. */
  readonly #buffers: number;
  #given = 0;
  #stalled = false;
  /** Whether the frame is decoded to its end. */
  ended = false;

  constructor(functions: LibzstdFunctions) {
    this.#functions = functions;
    this.#context = functions.ZSTD_createDCtx();
    this.#input = functions.malloc(longestInput);
    this.#output = functions.malloc(pieceLength);
    this.#buffers = functions.malloc(2 * bufferBytes);
    if ([this.#context, this.#input, this.#output, this.#buffers].includes(0)) {
      this.free();
      throw outOfMemory();
    }
    this.#setBuffer(bufferBytes, this.#output, pieceLength);
  }

  /** Whether a whole piece waits to be taken. */
  get isFull(): boolean {
    return this.#decoded === pieceLength;
  }

  /** Copies in what is decoded next. */
  give(input: Uint8Array): void {
    new Uint8Array(this.#functions.memory.buffer).set(input, this.#input);
    this.#setBuffer(0, this.#input, input.length);
    this.#given = input.length;
    this.#stalled = false;
  }

  /** Decodes on, until the piece is full or more input is needed; false where nothing was left to do. */
  advance(): boolean {
    if (this.#stalled || this.ended) return false;
    const result = this.#functions.ZSTD_decompressStream(this.#context, this.#buffers + bufferBytes, this.#buffers);
    if (result === memoryError) throw outOfMemory();
    if (result < 0) throw new ZstdDamage("a damaged block");
    this.ended = result === 0;
    this.#stalled = this.#position(0) === this.#given && !this.isFull;
    return true;
  }

  /** Copies what is decoded to the start of `piece`, and gives that part of it. */
  take(piece: Uint8Array): Uint8Array {
    const length = this.#decoded;
    piece.set(new Uint8Array(this.#functions.memory.buffer, this.#output, length));
    this.#setBuffer(bufferBytes, this.#output, pieceLength);
    return piece.subarray(0, length);
  }

  /** Gives the memory back. */
  free(): void {
    const { ZSTD_freeDCtx, free } = this.#functions;
    ZSTD_freeDCtx(this.#context);
    for (const address of [this.#input, this.#output, this.#buffers]) free(address);
  }

  get #decoded(): number {
    return this.#position(bufferBytes);
  }

  // The memory grows meanwhile, and then has another ArrayBuffer.
  get #view(): DataView {
    return new DataView(this.#functions.memory.buffer, this.#buffers, 2 * bufferBytes);
  }

  #position(offset: number): number {
    return this.#view.getUint32(offset + 8, true);
  }

  #setBuffer(offset: number, address: number, size: number): void {
    for (const [index, value] of [address, size, 0].entries()) this.#view.setUint32(offset + 4 * index, value, true);
  }
}

/** `ZSTD_error_memory_allocation`, as libzstd returns it. */
const memoryError = -64;

const outOfMemory = () => new RangeError("WebAssembly has no memory left to decode a zstd frame; restore fewer leaves at once");
