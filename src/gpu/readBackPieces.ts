import type { TaskContext } from "../tasks/context.js";
import { type Blame, blameLargest } from "./blame.js";
import { BufferSet } from "./bufferSet.js";
import { bufferUsage } from "./bufferUsage.js";
import { DeviceWatch } from "./deviceWatch.js";
import { wholeWords } from "./limits.js";

/** Most bytes of a staging buffer. */
const longestStaging = 16 * 1024 * 1024;

/** Some bytes of a buffer with COPY_SRC, whose size in bytes reaches over the next multiple of 4 after them. */
export interface BufferPiece {
  readonly buffer: GPUBuffer;
  /** In bytes from the buffer's start; need not be a multiple of 4. */
  readonly offset: number;
  readonly length: number;
  /** Item and leaf path, for errors. */
  readonly leaf: string;
}

/** Pieces that are copied out together, and where each stands in the staging buffer. */
interface Batch {
  readonly pieces: readonly { readonly piece: BufferPiece; readonly at: number }[];
  readonly size: number;
}

/**
 * Copies pieces of a device's buffers into memory, one after the other. Two staging buffers take turns: while the caller works on what one
 * holds, the device fills the other, and small pieces share one. What is given is a view, valid until the next piece is asked for.
 * @param stagingBytes most bytes of a staging buffer, at most 16 MiB; no piece may be longer.
 * @throws DeviceError where the device fails or is lost, and the signal's reason on abort.
 */
export async function* readBackPieces(
  device: GPUDevice,
  pieces: Iterable<BufferPiece>,
  stagingBytes: number,
  { signal }: TaskContext = {},
): AsyncGenerator<Uint8Array> {
  const watch = new DeviceWatch(device, { signal });
  const scratch = new BufferSet(watch);
  try {
    yield* takeTurns(batchesOf(pieces, Math.min(stagingBytes, longestStaging)), new Stagings(watch, scratch));
  } finally {
    scratch.destroy();
    watch.close();
  }
}

async function* takeTurns(batches: Iterator<Batch>, stagings: Stagings): AsyncGenerator<Uint8Array> {
  const begin = (): Filled | undefined => {
    const { done, value } = batches.next();
    return done === true ? undefined : stagings.begin(value);
  };
  for (let filled = begin(); filled !== undefined; ) {
    const memory = await filled.mapped();
    const next = begin();
    for (const { piece, at } of filled.batch.pieces) yield new Uint8Array(memory, at, piece.length);
    filled.done();
    filled = next;
  }
}

/** Pieces in their order, as many together as a staging buffer takes. */
function* batchesOf(pieces: Iterable<BufferPiece>, longest: number): Generator<Batch> {
  let together: { readonly piece: BufferPiece; readonly at: number }[] = [];
  let size = 0;
  for (const piece of pieces) {
    // Copies begin and end at multiples of 4.
    const before = piece.offset % 4;
    const length = wholeWords(before + piece.length);
    if (together.length > 0 && size + length > longest) {
      yield { pieces: together, size };
      together = [];
      size = 0;
    }
    together.push({ piece, at: size + before });
    size += length;
  }
  if (together.length > 0) yield { pieces: together, size };
}

/** A batch that the device is copying into a staging buffer. */
interface Filled {
  readonly batch: Batch;
  /** Its bytes, when the device has copied them. */
  mapped(): Promise<ArrayBuffer>;
  done(): void;
}

/** Two staging buffers at most: the one that is read, and the one that is filled. */
class Stagings {
  readonly #watch: DeviceWatch;
  readonly #scratch: BufferSet;
  readonly #free: GPUBuffer[] = [];

  constructor(watch: DeviceWatch, scratch: BufferSet) {
    this.#watch = watch;
    this.#scratch = scratch;
  }

  begin(batch: Batch): Filled {
    const [first, ...others] = batch.pieces.map(({ piece }) => blameOf(piece));
    const blame = first === undefined ? { leaf: "", bytes: 0, doing: "reading" } : blameLargest([first, ...others], "read with it");
    const staging = this.#take(batch.size, blame);
    this.#watch.guard(["validation", "out-of-memory"], blame, () => {
      const encoder = this.#watch.device.createCommandEncoder();
      for (const { piece, at } of batch.pieces) {
        const before = piece.offset % 4;
        encoder.copyBufferToBuffer(piece.buffer, piece.offset - before, staging, at - before, wholeWords(before + piece.length));
      }
      this.#watch.device.queue.submit([encoder.finish()]);
    });
    const mapping = staging.mapAsync(1, 0, batch.size); // GPUMapMode.READ, which exists only in browsers
    mapping.catch(() => undefined); // heard by those who wait for it
    return {
      batch,
      mapped: async () => {
        await this.#watch.settle();
        await this.#watch.wait(mapping, blame);
        return staging.getMappedRange(0, batch.size);
      },
      done: () => {
        staging.unmap();
        this.#free.push(staging);
      },
    };
  }

  /** A free buffer that is large enough; one that is not makes room for a new one. */
  #take(size: number, blame: Blame): GPUBuffer {
    const free = this.#free.pop();
    if (free !== undefined && free.size >= size) return free;
    if (free !== undefined) this.#scratch.destroyOne(free);
    return this.#scratch.make({ label: "orbax-webgpu read-back", size, usage: bufferUsage.MAP_READ | bufferUsage.COPY_DST }, blame);
  }
}

const blameOf = ({ leaf, buffer }: BufferPiece): Blame => ({ leaf, bytes: buffer.size, doing: "reading its buffer" });
