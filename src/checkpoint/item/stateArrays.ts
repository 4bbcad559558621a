import type { ByteRange } from "../../bytes/ranges.js";
import type { StateArray, StateNumber } from "../../pytree/msgpack/stateLeaf.js";
import { joinedRanges } from "../../storage/joinedRanges.js";
import type { LocatedStorage, RangeLocation } from "../../storage/located.js";
import type { ReadableStorage } from "../../storage/storage.js";
import { formatZarray } from "../../zarr/formatZarray.js";

/**
 * The arrays and numbers of a state file as zarr arrays of one chunk, the bytes of which are runs of the file. The array of `values[n]` is called
 * `String(n)`.
 * @param path the file in its folder.
 */
export function stateArrays(folder: ReadableStorage, path: string, values: readonly (StateArray | StateNumber)[]): LocatedStorage {
  const locations = new Map<string, RangeLocation>();
  for (const [index, value] of values.entries()) {
    const shape = value.kind === "array" ? value.shape : [];
    const chunkShape = shape.map((length) => Math.max(length, 1));
    const metadata = new TextEncoder().encode(formatZarray({ dtype: value.dtype, shape }, chunkShape, "none"));
    locations.set(`${index}/.zarray`, { storage: folder, path, range: { offset: 0, length: metadata.length }, inline: metadata });
    locations.set(`${index}/${shape.map(() => 0).join(".") || "0"}`, locationOf(folder, path, value));
  }
  return {
    locateAll: async (keys) => keys.map((key) => locations.get(key)),
    readAll: async (keys) => keys.map((key) => locations.get(key)?.inline),
  };
}

function locationOf(storage: ReadableStorage, path: string, value: StateArray | StateNumber): RangeLocation {
  if (value.kind === "number") {
    return { storage, path, range: { offset: value.offset, length: value.bytes.length }, inline: value.bytes };
  }
  const [first, ...more] = value.ranges;
  if (first !== undefined && more.length === 0) return { storage, path, range: first };
  return { storage: joinedRanges(storage, path, value.ranges), path, range: { offset: 0, length: lengthOf(value.ranges) } };
}

const lengthOf = (ranges: readonly ByteRange[]): number => ranges.reduce((sum, { length }) => sum + length, 0);
