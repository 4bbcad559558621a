import { type Box, elementCount } from "./spec.js";

/** Elements of an array one after the other in C order: from `start` to `end`, which is excluded. */
export interface ElementRun {
  readonly start: number;
  readonly end: number;
}

/**
 * The runs of elements that hold a box of an array which is not empty, in C order; two with at most `largestGap` elements between them are one.
 */
export function* boxRuns(shape: readonly number[], box: Box, largestGap: number, base = 0, axis = 0): Generator<ElementRun> {
  const stride = elementCount(shape.slice(axis + 1));
  const first = box.start[axis] ?? 0;
  const count = box.shape[axis] ?? 1;
  const inner = spanOf(shape, box, axis + 1);
  // Gaps of inner axes are no longer than those of outer ones, which have them at their ends.
  if (axis >= shape.length - 1 || (count > 1 && stride - (inner.end - inner.start) <= largestGap)) {
    return yield { start: base + first * stride + inner.start, end: base + (first + count - 1) * stride + inner.end };
  }
  for (let index = first; index < first + count; index++) yield* boxRuns(shape, box, largestGap, base + index * stride, axis + 1);
}

/** The elements from the first of the box to its last within one index of the axes before `axis`. */
function spanOf(shape: readonly number[], { start, shape: lengths }: Box, axis: number): ElementRun {
  let first = 0;
  let last = 0;
  for (let index = axis; index < shape.length; index++) {
    const length = shape[index] ?? 1;
    first = first * length + (start[index] ?? 0);
    last = last * length + (start[index] ?? 0) + (lengths[index] ?? 1) - 1;
  }
  return { start: first, end: last + 1 };
}
