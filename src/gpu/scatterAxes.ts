import type { Block } from "../arrays/spec.js";

/** One axis of a chunk and of its array, in units of {@link ScatterAxes.unit} bytes along the innermost axis. */
export interface ScatterAxis {
  /** Length of the chunk along the axis. */
  readonly chunk: number;
  /** Length of the array along the axis. */
  readonly array: number;
  /** Where the chunk begins along the axis. */
  readonly origin: number;
  /** Where the block begins along the axis, within the chunk. */
  readonly start: number;
}

/** A block as the scatter shader sees it. */
export interface ScatterAxes {
  /** Bytes that always stay together: 4, 2 or 1. */
  readonly unit: number;
  /** Outermost first. */
  readonly axes: readonly ScatterAxis[];
}

/** Describes a block in as few axes and as large units as its place in the array allows. */
export function scatterAxesOf(arrayShape: readonly number[], block: Block, itemsize: number): ScatterAxes {
  const axes = foldedAxes(arrayShape, block, itemsize);
  const last = axes.at(-1);
  const start = block.elementOffset * itemsize;
  const together = [last?.chunk, last?.array, last?.origin, start, block.data.byteLength];
  const unit = [4, 2].find((size) => together.every((bytes = 0) => bytes % size === 0)) ?? 1;
  let rest = start / unit;
  const started: ScatterAxis[] = [];
  for (const [index, axis] of [...axes.entries()].reverse()) {
    const scale = index === axes.length - 1 ? unit : 1;
    const chunk = axis.chunk / scale;
    started.unshift({ chunk, array: axis.array / scale, origin: axis.origin / scale, start: rest % chunk });
    rest = Math.floor(rest / chunk);
  }
  return { unit, axes: started };
}

/** The axes in bytes, with each axis that chunks cover exactly folded into the one before it. */
function foldedAxes(arrayShape: readonly number[], { origin, shape }: Block, itemsize: number) {
  let inner = { chunk: itemsize, array: itemsize, origin: 0 };
  const axes: (typeof inner)[] = [];
  for (let index = arrayShape.length - 1; index >= 0; index--) {
    const whole = inner.chunk === inner.array && inner.origin === 0;
    const scale = whole ? inner.array : 1;
    if (!whole) axes.unshift(inner);
    inner = { chunk: (shape[index] ?? 1) * scale, array: (arrayShape[index] ?? 1) * scale, origin: (origin[index] ?? 0) * scale };
  }
  return [inner, ...axes];
}
