import type { RestoredArray } from "../item/leaves.js";

// What only those need who restore: loaded when somebody opens a checkpoint, while they look at it.

export { restoreItems } from "./restoreItems.js";

/** As its namesake, which comes when a region is read. */
export const readRegion = async (...call: Parameters<typeof import("./readRegion.js").readRegion>): Promise<RestoredArray> =>
  (await import("./readRegion.js")).readRegion(...call);
