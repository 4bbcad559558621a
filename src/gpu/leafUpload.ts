import { dtypes } from "../arrays/dtypes.js";
import { segmentsOf } from "../arrays/segments.js";
import type { Block } from "../arrays/spec.js";
import type { BufferSet } from "./bufferSet.js";
import { bufferUsage, hasUsage } from "./bufferUsage.js";
import { chunkRowsOf } from "./chunkRows.js";
import type { HeldLeaf } from "./createLeafBuffers.js";
import type { Blame, DeviceWatch } from "./deviceWatch.js";
import { gpuBufferSize, gpuByteLength, usageOf, wholeWords } from "./limits.js";
import { canScatter, type Scatter } from "./scatter.js";
import type { SendWindow } from "./sendWindow.js";
import { WordWriter } from "./wordWriter.js";
import { writeBytes } from "./writeBytes.js";

/** What the leaves of one upload share. */
export interface UploadParts {
  readonly watch: DeviceWatch;
  readonly window: SendWindow;
  readonly scatter: Scatter;
  /** Buffers that are destroyed when the upload ends. */
  readonly scratch: BufferSet;
}

/**
 * When rows are written one by one, with a writeBuffer each (1 to 4 µs), rather than by the shader: where they are long, or few.
 * Rows that begin inside a word leave a word waiting at each end, in memory of ours, so they must be longer.
 */
const direct = { rowBytes: 256, unalignedRowBytes: 4096, rowsPerChunk: 64, rows: 1024 };

/** A way to place blocks: `place` gets pieces of at most `longestPiece` bytes, `flush` comes after the last one. */
interface Placement {
  readonly longestPiece: number;
  place(piece: Block): void;
  flush(): void;
}

/** Writes the blocks of one array into its buffer. */
export class LeafUpload {
  readonly #parts: UploadParts;
  readonly #leaf: HeldLeaf;
  readonly #blame: Blame;
  #placement: Placement | undefined;

  constructor(parts: UploadParts, leaf: HeldLeaf) {
    this.#parts = parts;
    this.#leaf = leaf;
    this.#blame = { leaf: leaf.leaf, bytes: gpuBufferSize(leaf.spec), doing: "writing to its buffer" };
  }

  /** Sends a block; its data may be reused when this resolves. All blocks of an array come from chunks of one shape. */
  async place(block: Block): Promise<void> {
    this.#placement ??= this.#choose(block.shape);
    const { itemsize } = dtypes[this.#leaf.spec.dtype];
    for (const piece of piecesOf(block, itemsize, this.#placement.longestPiece)) {
      await this.#parts.window.send(piece.data.byteLength, this.#blame, () => this.#placement?.place(piece));
    }
  }

  /** Sends what waits for more blocks. */
  flush(): void {
    this.#placement?.flush();
  }

  #choose(chunkShape: readonly number[]): Placement {
    const { spec } = this.#leaf;
    const rows = chunkRowsOf(spec.shape, chunkShape, dtypes[spec.dtype].itemsize);
    const long = rows.shortestRow >= (rows.aligned ? direct.rowBytes : direct.unalignedRowBytes);
    const few = rows.rowsPerChunk <= direct.rowsPerChunk || rows.rowCount <= direct.rows;
    return long || few || !canScatter(spec) ? this.#writing() : this.#scattering();
  }

  /** Row by row, straight from the block. */
  #writing(): Placement {
    const { spec, into, buffer } = this.#leaf;
    const { watch, window } = this.#parts;
    const { itemsize } = dtypes[spec.dtype];
    const writer = new WordWriter(gpuByteLength(spec), (offset, bytes) => writeBytes(watch.device.queue, buffer, offset, bytes));
    // A buffer of our own cannot be refused, and each scope costs about 35 µs.
    const scopes: readonly GPUErrorFilter[] = into === undefined ? ["out-of-memory"] : ["out-of-memory", "validation"];
    const guarded = (calls: () => void) => watch.guard(scopes, this.#blame, calls);
    return {
      longestPiece: window.longestPiece,
      place: (piece) =>
        guarded(() => {
          for (const { sourceOffset, targetOffset, byteLength } of segmentsOf(spec.shape, piece, itemsize)) {
            writer.write(targetOffset, piece.data.subarray(sourceOffset, sourceOffset + byteLength));
          }
        }),
      flush: () => {
        if (writer.waiting > 0) guarded(() => writer.flush());
      },
    };
  }

  /** With the shader, into the buffer itself where shaders may write to it, else by way of another one of its size. */
  #scattering(): Placement {
    const { scatter, window } = this.#parts;
    const inPlace = hasUsage(usageOf(this.#leaf), bufferUsage.STORAGE);
    const target = inPlace ? this.#leaf.buffer : this.#makeTwin();
    if (inPlace && this.#leaf.into !== undefined) this.#encode((encoder, bytes) => encoder.clearBuffer(target, 0, bytes));
    return {
      longestPiece: Math.min(scatter.longestBlock, window.longestPiece),
      place: (piece) => scatter.place(target, this.#leaf.spec, piece, this.#blame),
      flush: () => {
        if (!inPlace) this.#encode((encoder, bytes) => encoder.copyBufferToBuffer(target, 0, this.#leaf.buffer, 0, bytes));
      },
    };
  }

  #makeTwin(): GPUBuffer {
    const size = wholeWords(gpuByteLength(this.#leaf.spec));
    const usage = bufferUsage.STORAGE | bufferUsage.COPY_SRC;
    return this.#parts.scratch.make({ label: this.#leaf.leaf, size, usage }, this.#blame);
  }

  /** Submits one command over the whole words of the array. */
  #encode(command: (encoder: GPUCommandEncoder, bytes: number) => void): void {
    const { watch } = this.#parts;
    watch.guard(["validation", "out-of-memory"], this.#blame, () => {
      const encoder = watch.device.createCommandEncoder();
      command(encoder, wholeWords(gpuByteLength(this.#leaf.spec)));
      watch.device.queue.submit([encoder.finish()]);
    });
  }
}

/** Cuts a block into pieces of whole elements. */
function* piecesOf({ origin, shape, elementOffset, data }: Block, itemsize: number, longest: number): Generator<Block> {
  for (let start = 0; start < data.byteLength; start += longest) {
    yield { origin, shape, elementOffset: elementOffset + start / itemsize, data: data.subarray(start, start + longest) };
  }
}
