import type { Box } from "../../arrays/spec.js";
import { CheckpointValueError } from "../../errors.js";

/** A part of an array: `[start, stop]` in elements along each axis, stop excluded; `null`, and axes left out at the end, take all. */
export type Region = readonly (readonly [start: number, stop: number] | null)[];

/**
 * Checks a region of an array.
 * @param path names the array in errors.
 * @throws CheckpointValueError for more axes than the array has, and for bounds that are no integers or not within the array.
 */
export function boxOf(region: Region, shape: readonly number[], path: string): Box {
  if (!Array.isArray(region)) throw new CheckpointValueError(`${path}: a region is a list with [start, stop] or null for each axis`);
  if (region.length > shape.length)
    throw new CheckpointValueError(
      `${path}: a region of ${region.length} axes of an array of shape [${shape.join(", ")}]; it takes one [start, stop], or null, for each axis`,
    );
  const bounds = shape.map((length, axis) => boundsOf(region[axis] ?? null, length, axis, path));
  return { start: bounds.map(([start]) => start), shape: bounds.map(([start, stop]) => stop - start) };
}

/** Numbers that JSON has not, as texts. */
const asText = (_: string, value: unknown): unknown => {
  if (typeof value === "bigint") return `${value}n`;
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
};

function boundsOf(bounds: Region[number], length: number, axis: number, path: string): readonly [number, number] {
  if (bounds === null) return [0, length];
  const [start, stop] = Array.isArray(bounds) && bounds.length === 2 ? bounds : [Number.NaN, Number.NaN];
  if (Number.isSafeInteger(start) && Number.isSafeInteger(stop) && 0 <= start && start <= stop && stop <= length) return [start, stop];
  throw new CheckpointValueError(
    `${path}: a region of ${JSON.stringify(bounds, asText)} along axis ${axis}; it takes [start, stop] with 0 <= start <= stop <= ${length}`,
  );
}
