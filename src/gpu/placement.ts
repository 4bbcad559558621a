import type { Block } from "../arrays/spec.js";

/** A way to place the blocks of one array in its buffer. */
export interface Placement {
  /** Most bytes of one piece; whole elements. */
  readonly longestPiece: number;
  /** What the device may report of {@link place}, which is to be called inside these error scopes. */
  readonly scopes: readonly GPUErrorFilter[];
  /** Places a piece of a block; its data may be reused when this returns. */
  place(piece: Block): void;
  /** To be called after the last piece. */
  flush(): void;
}
