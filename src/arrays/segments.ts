import { type Block, elementCount } from "./spec.js";

/** Bytes that lie side by side both in a block's data and in the array. */
export interface Segment {
  /** First byte within the block's data. */
  readonly sourceOffset: number;
  /** First byte within the array's bytes in C order. */
  readonly targetOffset: number;
  readonly byteLength: number;
}

/**
 * The longest contiguous runs of a block, in the order of its data; elements outside the array are left out.
 * The runs come one by one, so a block of a million single elements costs no list.
 */
export function* segmentsOf(arrayShape: readonly number[], block: Block, itemsize: number): Generator<Segment> {
  const rows = rowsOf(arrayShape, block);
  const end = block.elementOffset + block.data.byteLength / itemsize;
  if (rows.chunkRow === 0 || rows.insideRow <= 0) return;
  const cursor = new RowCursor(rows, Math.floor(block.elementOffset / rows.chunkRow));
  for (; cursor.row * rows.chunkRow < end; cursor.next()) {
    const rowStart = cursor.row * rows.chunkRow;
    const from = Math.max(rowStart + rows.beforeRow, block.elementOffset);
    const to = Math.min(rowStart + rows.insideRow, end);
    if (from >= to || !cursor.inside) continue;
    yield {
      sourceOffset: (from - block.elementOffset) * itemsize,
      targetOffset: (cursor.target + from - rowStart) * itemsize,
      byteLength: (to - from) * itemsize,
    };
  }
}

/** A chunk as rows: its innermost axes folded into one as far as both chunk and array are contiguous along them. */
interface Rows {
  /** Elements of a row of the chunk, how many of them lie before the array, and the index of the first one behind it. */
  readonly chunkRow: number;
  readonly beforeRow: number;
  readonly insideRow: number;
  /** The outer axes: rows along each, how many of those lie before and where those inside end, and elements of the array between two. */
  readonly outer: readonly { readonly length: number; readonly before: number; readonly inside: number; readonly stride: number }[];
  /** Element of the array where the chunk's first element lies. */
  readonly base: number;
}

function rowsOf(arrayShape: readonly number[], { origin, shape }: Block): Rows {
  const rank = shape.length;
  const axis = (index: number) => {
    const length = shape[index] ?? 1;
    const start = origin[index] ?? 0;
    return {
      length,
      start,
      before: Math.max(0, -start),
      inside: Math.min(length, (arrayShape[index] ?? 1) - start),
      whole: start === 0 && length === arrayShape[index],
    };
  };
  let fold = Math.max(rank - 1, 0);
  while (fold > 0 && axis(fold).whole) fold--;
  const inner = elementCount(arrayShape.slice(fold + 1));
  const last = axis(fold);
  let stride = inner * (arrayShape[fold] ?? 1);
  let base = last.start * inner;
  const outer: { length: number; before: number; inside: number; stride: number }[] = [];
  for (let index = fold - 1; index >= 0; index--) {
    const { start, ...along } = axis(index);
    outer.unshift({ ...along, stride });
    base += start * stride;
    stride *= arrayShape[index] ?? 1;
  }
  return { chunkRow: last.length * inner, beforeRow: last.before * inner, insideRow: last.inside * inner, outer, base };
}

/** Counts through the rows like an odometer. */
class RowCursor {
  /** Index of the row within the chunk; past the last one infinity. */
  row: number;
  /** Whether the row lies inside the array along the outer axes. */
  inside = true;
  /** Element of the array where the row begins. */
  target = 0;
  readonly #rows: Rows;
  readonly #digits: number[];

  constructor(rows: Rows, first: number) {
    this.#rows = rows;
    this.#digits = rows.outer.map(() => 0);
    let rest = first;
    for (let index = rows.outer.length - 1; index >= 0; index--) {
      const length = rows.outer[index]?.length ?? 1;
      this.#digits[index] = rest % length;
      rest = Math.floor(rest / length);
    }
    this.row = rest === 0 ? first : Number.POSITIVE_INFINITY;
    this.#settle();
  }

  next(): void {
    const digits = this.#digits;
    let index = digits.length - 1;
    while (index >= 0 && (digits[index] ?? 0) + 1 === this.#rows.outer[index]?.length) digits[index--] = 0;
    if (index >= 0) digits[index] = (digits[index] ?? 0) + 1;
    this.row = index < 0 ? Number.POSITIVE_INFINITY : this.row + 1;
    this.#settle();
  }

  #settle(): void {
    const { outer, base } = this.#rows;
    this.inside = true;
    this.target = base;
    for (let index = 0; index < outer.length; index++) {
      const { before = 0, inside = 1, stride = 0 } = outer[index] ?? {};
      const digit = this.#digits[index] ?? 0;
      if (digit < before || digit >= inside) this.inside = false;
      this.target += digit * stride;
    }
  }
}
