import type { Box } from "../arrays/spec.js";
import { chunkCount } from "./grid.js";
import type { ZarrArray } from "./openArray.js";

/** A part of an array as an array by itself: its chunks are those that the box touches, and may begin before it. */
export const regionArray = (array: ZarrArray, box: Box): ZarrArray => ({
  ...array,
  spec: { ...array.spec, shape: box.shape },
  whole: array.spec,
  chunkCount: chunkCount({ shape: array.spec.shape, chunkShape: array.chunkShape }, box),
  *chunks() {
    for (const { key, origin } of array.chunks(box)) yield { key, origin: origin.map((start, axis) => start - (box.start[axis] ?? 0)) };
  },
});
