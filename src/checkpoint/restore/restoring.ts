// What only those need who restore: loaded when somebody opens a checkpoint, while they look at it.
export { readRegion } from "./readRegion.js";
export { restoreItems } from "./restoreItems.js";
