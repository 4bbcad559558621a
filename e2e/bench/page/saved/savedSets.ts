import type { ArrayDescription, SavedSetName, SetDescription } from "../protocol.js";

const mebibyte = 2 ** 20;

/** What is saved: so many arrays of so many bytes each. */
const shapes: Readonly<Record<SavedSetName, { readonly count: number; readonly byteLength: number }>> = {
  "save-256m": { count: 64, byteLength: 4 * mebibyte },
  "save-512m": { count: 64, byteLength: 8 * mebibyte },
  "save-512m-array": { count: 1, byteLength: 512 * mebibyte },
};

/** Words of a set that are compared after a save. */
const comparedWords = 1024;

/** Whether a set is made in the page and saved, instead of being made by Python and restored. */
export const isSavedSet = (set: string): set is SavedSetName => Object.hasOwn(shapes, set);

/** Bytes of a set that is `scale` times smaller than the real one. */
export const savedBytes = (set: SavedSetName, scale: number): number => (shapes[set].count * shapes[set].byteLength) / scale;

/** The arrays of a set, and words of each: the first, the last, and some between them. */
export function savedSet(set: SavedSetName, scale: number): SetDescription {
  const { count, byteLength } = shapes[set];
  const arrays = Array.from({ length: count }, (_, at) => describeArray(at, byteLength / scale, comparedWords / count));
  return { bytes: savedBytes(set, scale), arrays };
}

function describeArray(array: number, byteLength: number, compared: number): ArrayDescription {
  const last = byteLength / 4 - 1;
  const indices = Array.from({ length: compared }, (_, at) => Math.round((at * last) / (compared - 1)));
  const words = indices.map((index) => savedWord(array, index));
  return { name: `layer_${String(array).padStart(4, "0")}`, byteLength, indices, words };
}

/** A 32-bit word of the set's array `array`, a finite float32 that looks like chance: `fillBuffers` computes the same on the GPU. */
export function savedWord(array: number, index: number): number {
  let x = (index ^ Math.imul(array + 1, 0x9e3779b9)) >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return ((x ^ (x >>> 16)) & 0xbfffffff) >>> 0;
}
