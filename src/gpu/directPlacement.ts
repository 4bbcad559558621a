import { dtypes } from "../arrays/dtypes.js";
import { segmentsOf } from "../arrays/segments.js";
import type { Block } from "../arrays/spec.js";
import type { Blame } from "./blame.js";
import type { DeviceWatch } from "./deviceWatch.js";
import type { HeldLeaf } from "./leafBuffers.js";
import { gpuByteLength } from "./limits.js";
import { type Placement, writeScopes } from "./placement.js";
import { WordWriter } from "./wordWriter.js";
import { writeBytes } from "./writeBytes.js";

/** Row by row, straight from the block; blocks of an array that is one chunk have one row. */
export class DirectPlacement implements Placement {
  readonly longestPiece: number;
  readonly #watch: DeviceWatch;
  readonly #leaf: HeldLeaf;
  readonly #blame: Blame;
  readonly #writer: WordWriter;

  constructor(watch: DeviceWatch, leaf: HeldLeaf, blame: Blame, longestPiece: number) {
    this.#watch = watch;
    this.#leaf = leaf;
    this.#blame = blame;
    this.longestPiece = longestPiece;
    const { queue } = watch.device;
    this.#writer = new WordWriter(gpuByteLength(leaf.spec), (offset, bytes) => writeBytes(queue, leaf.buffer, offset, bytes));
  }

  place(piece: Block): void {
    const { shape, dtype } = this.#leaf.spec;
    const { itemsize } = dtypes[dtype];
    if (isWhole(piece, shape)) {
      this.#writer.write(piece.elementOffset * itemsize, piece.data);
      return;
    }
    for (const { sourceOffset, targetOffset, byteLength } of segmentsOf(shape, piece, itemsize)) {
      this.#writer.write(targetOffset, piece.data.subarray(sourceOffset, sourceOffset + byteLength));
    }
  }

  flush(): void {
    if (this.#writer.waiting > 0) this.#watch.guard(writeScopes, this.#blame, () => this.#writer.flush());
  }
}

/** Whether the chunk is the array. */
const isWhole = (chunk: Block, arrayShape: readonly number[]): boolean => chunk.shape.every((length, axis) => length === arrayShape[axis]);
