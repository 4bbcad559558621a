import type { Block } from "../arrays/spec.js";

/** Error scopes for writing to buffers: even one of our own may turn out to be none, for want of memory. */
export const writeScopes = ["validation", "out-of-memory"] as const;

/** A way to place the blocks of one array in its buffer. */
export interface Placement {
  /** Most bytes of one piece; whole elements. */
  readonly longestPiece: number;
  /** Places a piece of a block, inside {@link writeScopes}; its data may be reused when this returns. */
  place(piece: Block): void;
  /** To be called after the last piece. */
  flush(): void;
}
