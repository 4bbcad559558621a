import { dtypes } from "../../src/arrays/dtypes.js";
import type { ArraySpec, Block } from "../../src/arrays/spec.js";
import { elementCount } from "../../src/arrays/spec.js";
import type { Random } from "./random.js";

/** What stands in a chunk outside the array's edge. */
const outside = 0xee;

/**
 * Cuts an array into chunks and these into blocks, element by element so that nothing is shared with the code under test. The
 * blocks of a chunk keep their order; chunks are interleaved at random.
 */
export function blocksOf(bytes: Uint8Array, spec: ArraySpec, chunkShape: readonly number[], random: Random): Block[] {
  const { itemsize } = dtypes[spec.dtype];
  const queues = originsOf(spec.shape, chunkShape).map((origin) => {
    const data = chunkBytes(bytes, spec.shape, origin, chunkShape, itemsize);
    return cut(data, itemsize, random).map(({ start, end }) => ({
      origin,
      shape: chunkShape,
      elementOffset: start / itemsize,
      data: data.subarray(start, end),
    }));
  });
  return interleave(queues, random);
}

/** Takes from queues at random, each in its order. */
export function interleave<Value>(queues: readonly Value[][], random: Random): Value[] {
  const order = random.shuffle(queues.flatMap((queue, index) => queue.map(() => index)));
  const taken = queues.map(() => 0);
  return order.map((index) => {
    const next = taken[index] ?? 0;
    taken[index] = next + 1;
    return queues[index]?.[next] as Value;
  });
}

function originsOf(shape: readonly number[], chunkShape: readonly number[]): number[][] {
  let origins: number[][] = [[]];
  for (const [axis, length] of shape.entries()) {
    const step = chunkShape[axis] ?? 1;
    const starts = Array.from({ length: Math.ceil(length / step) }, (_, index) => index * step);
    origins = origins.flatMap((origin) => starts.map((start) => [...origin, start]));
  }
  return origins;
}

function chunkBytes(
  bytes: Uint8Array,
  shape: readonly number[],
  origin: readonly number[],
  chunkShape: readonly number[],
  itemsize: number,
): Uint8Array {
  const chunk = new Uint8Array(elementCount(chunkShape) * itemsize).fill(outside);
  for (let element = 0; element < elementCount(chunkShape); element++) {
    let rest = element;
    let stride = 1;
    let index = 0;
    let inside = true;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      const chunkLength = chunkShape[axis] ?? 1;
      const length = shape[axis] ?? 1;
      const at = (origin[axis] ?? 0) + (rest % chunkLength);
      rest = Math.floor(rest / chunkLength);
      inside &&= at < length;
      index += at * stride;
      stride *= length;
    }
    if (inside) chunk.set(bytes.subarray(index * itemsize, (index + 1) * itemsize), element * itemsize);
  }
  return chunk;
}

function cut(data: Uint8Array, itemsize: number, random: Random): { start: number; end: number }[] {
  const pieces: { start: number; end: number }[] = [];
  const elements = data.byteLength / itemsize;
  for (let start = 0; start < elements; ) {
    const end = Math.min(elements, start + random.integer(1, Math.max(1, Math.ceil(elements / random.integer(1, 4)))));
    pieces.push({ start: start * itemsize, end: end * itemsize });
    start = end;
  }
  return pieces;
}
