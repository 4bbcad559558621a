import { lazyPool } from "../../../tasks/lazyPool.js";

/**
 * The workers of this thread, which all restores share, as they share its cores, started when a job needs one. More than four wait for each
 * other more than they decode; the next restore of a page often follows soon, and starting one takes 40 ms.
 */
export const sharedWorkers = /* @__PURE__ */ lazyPool({ most: 4, idleMs: 5000, load: () => import("./chunkWorker.js?worker&inline") });
