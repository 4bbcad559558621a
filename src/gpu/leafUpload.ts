import { dtypes } from "../arrays/dtypes.js";
import type { Block } from "../arrays/spec.js";
import type { Blame } from "./blame.js";
import type { BufferSet } from "./bufferSet.js";
import { chunkRowsOf } from "./chunkRows.js";
import type { DeviceWatch } from "./deviceWatch.js";
import { DirectPlacement } from "./directPlacement.js";
import type { HeldLeaf } from "./leafBuffers.js";
import { gpuBufferSize } from "./limits.js";
import type { Placement } from "./placement.js";
import { canScatter, type Scatter } from "./scatter.js";
import { ScatterPlacement } from "./scatterPlacement.js";
import type { SendWindow } from "./sendWindow.js";

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

/** Writes the blocks of one array into its buffer. */
export class LeafUpload {
  readonly blame: Blame;
  readonly #parts: UploadParts;
  readonly #leaf: HeldLeaf;
  #placement: Placement | undefined;

  constructor(parts: UploadParts, leaf: HeldLeaf) {
    this.#parts = parts;
    this.#leaf = leaf;
    this.blame = { leaf: leaf.leaf, bytes: gpuBufferSize(leaf.spec), doing: "writing to its buffer" };
  }

  /** How its pieces are placed. All blocks of an array come from chunks of one shape. */
  placementOf({ shape }: Block): Placement {
    this.#placement ??= this.#choose(shape);
    return this.#placement;
  }

  /** Cuts a block into pieces that can be placed at once. */
  *piecesOf(block: Block): Generator<Block> {
    const { longestPiece } = this.placementOf(block);
    const { itemsize } = dtypes[this.#leaf.spec.dtype];
    const { elementOffset, data } = block;
    if (data.byteLength > 0 && data.byteLength <= longestPiece) return yield block;
    for (let start = 0; start < data.byteLength; start += longestPiece) {
      yield { ...block, elementOffset: elementOffset + start / itemsize, data: data.subarray(start, start + longestPiece) };
    }
  }

  /** Sends what waits for more blocks. */
  flush(): void {
    this.#placement?.flush();
  }

  #choose(chunkShape: readonly number[]): Placement {
    const { watch, window, scatter, scratch } = this.#parts;
    const { spec } = this.#leaf;
    const rows = chunkRowsOf(spec.shape, chunkShape, dtypes[spec.dtype].itemsize);
    const long = rows.shortestRow >= (rows.aligned ? direct.rowBytes : direct.unalignedRowBytes);
    const few = rows.rowsPerChunk <= direct.rowsPerChunk || rows.rowCount <= direct.rows;
    return long || few || !canScatter(spec)
      ? new DirectPlacement(watch, this.#leaf, this.blame, window.longestBatch)
      : new ScatterPlacement(watch, scatter, scratch, this.#leaf, this.blame);
  }
}
