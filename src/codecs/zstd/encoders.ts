import { lazyPool } from "../../tasks/lazyPool.js";

/** Frames that are worth compressing at once, each of which takes memory; a device gives its bytes no faster. */
export const mostEncoders = 2;

/** The workers of this thread that compress. They are kept for a moment: the next frame of a save follows sooner, and their memory is large. */
export const encoders = /* @__PURE__ */ lazyPool({
  most: mostEncoders,
  idleMs: 2000,
  load: () => import("./encodeWorker.js?worker&inline"),
});
