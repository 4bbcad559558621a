import { type Dtype, dtypes } from "../../src/arrays/dtypes.js";
import { hostBytes } from "../../src/arrays/hostArray.js";
import { type ArraySpec, type Block, elementCount } from "../../src/arrays/spec.js";
import type { GpuArray } from "../../src/gpu/gpuArray.js";
import { gpuBufferSize } from "../../src/gpu/limits.js";
import { readBack } from "../../src/gpu/readBack.js";
import { openUpload } from "../../src/gpu/upload.js";
import { blocksOf, interleave } from "./chunking.js";
import { type Random, randomFrom } from "./random.js";

/** An array, its bytes and how it is cut. */
export interface TestArray {
  readonly spec: ArraySpec;
  readonly chunkShape: readonly number[];
  readonly usage?: number | undefined;
  /** Size of a buffer of the caller's, filled with junk, to restore into. */
  readonly intoSize?: number | undefined;
}

const itemsizes: Record<number, Dtype> = { 1: "int4", 2: "bfloat16", 4: "float32", 8: "complex64", 16: "complex128" };

/** A random shape, chunk shape and dtype of the given width with about `elements` elements. */
export function randomArray(seed: number, itemsize: number, elements: number): TestArray {
  const random = randomFrom(seed);
  const shape = Array.from({ length: random.integer(1, 4) }, () => 1);
  while (elementCount(shape) < elements) {
    const axis = random.integer(0, shape.length - 1);
    shape[axis] = (shape[axis] ?? 1) + random.integer(1, Math.max(2, shape[axis] ?? 1));
  }
  const chunkShape = shape.map((length) => random.pick([length, random.integer(1, length), random.integer(1, length + 2), 1]));
  while (elementCount(shape.map((length, axis) => Math.ceil(length / (chunkShape[axis] ?? 1)))) > 2000) {
    const axis = random.integer(0, shape.length - 1);
    chunkShape[axis] = shape[axis] ?? 1;
  }
  return { spec: { shape, dtype: itemsizes[itemsize] ?? "uint8" }, chunkShape };
}

/**
 * Uploads random bytes for all arrays at once, their blocks interleaved, several writes under way together; reads them back.
 * Gives a line for each array that is not as it should be, or whose padding is not zero.
 */
export async function uploadArrays(device: GPUDevice, arrays: readonly TestArray[], seed: number): Promise<string[]> {
  const random = randomFrom(seed);
  const leaves = arrays.map((array, index) => ({ ...array, leaf: `leaf ${index}`, into: junkBuffer(device, array, random) }));
  const contents = arrays.map(({ spec }) => random.bytes(elementCount(spec.shape) * dtypes[spec.dtype].itemsize));
  const upload = await openUpload(device, leaves);
  const queues = arrays.map(({ spec, chunkShape }, index) =>
    blocksOf(contents[index] as Uint8Array, spec, chunkShape, random).map((block) => ({ index, block })),
  );
  const writers = random.integer(1, 4);
  const work = interleave(queues, random);
  await Promise.all(
    Array.from({ length: writers }, (_, writer) =>
      writeEach(
        upload,
        work.filter((_, at) => at % writers === writer),
      ),
    ),
  );
  const results = await upload.finish();
  const problems = await Promise.all(
    results.map((result, index) => problemOf(result, contents[index] as Uint8Array, arrays[index] as TestArray)),
  );
  for (const result of results) result.destroy();
  for (const { into } of leaves) into?.destroy();
  return problems.flatMap((problem) => problem ?? []);
}

/** Writes from one scratch buffer that is reused as soon as a write resolves, as a decoder does. */
async function writeEach(
  upload: Awaited<ReturnType<typeof openUpload>>,
  work: readonly { readonly index: number; readonly block: Block }[],
): Promise<void> {
  const scratch = new Uint8Array(1 + Math.max(0, ...work.map(({ block }) => block.data.byteLength)));
  for (const { index, block } of work) {
    const data = scratch.subarray(1, 1 + block.data.byteLength);
    data.set(block.data);
    await upload.write(index, { ...block, data });
    data.fill(0xdd);
  }
}

function junkBuffer(device: GPUDevice, { intoSize, usage = 0x8c }: TestArray, random: Random): GPUBuffer | undefined {
  if (intoSize === undefined) return undefined;
  const buffer = device.createBuffer({ size: intoSize, usage });
  device.queue.writeBuffer(buffer, 0, random.bytes(intoSize));
  return buffer;
}

async function problemOf(
  result: GpuArray,
  expected: Uint8Array,
  { spec, chunkShape, intoSize, usage }: TestArray,
): Promise<string | undefined> {
  const name = `${spec.dtype}[${spec.shape}] in chunks [${chunkShape}], usage ${usage}, into ${intoSize}`;
  const readable = usage === undefined || (usage & 4) !== 0;
  if (!readable) return undefined;
  const difference = firstDifference(hostBytes(await result.read()), expected);
  if (difference !== undefined) return `${name}: differs at byte ${difference} of ${expected.byteLength}`;
  const padded = await readBack(
    result.device,
    result.buffer,
    intoSize === undefined ? gpuBufferSize(spec) : Math.ceil(expected.byteLength / 4) * 4,
  );
  const padding = padded.subarray(expected.byteLength).findIndex((byte) => byte !== 0);
  return padding < 0 ? undefined : `${name}: byte ${padding} of the padding is not zero`;
}

function firstDifference(received: Uint8Array, expected: Uint8Array): number | undefined {
  if (received.byteLength !== expected.byteLength) return Math.min(received.byteLength, expected.byteLength);
  const index = received.findIndex((byte, at) => byte !== expected[at]);
  return index < 0 ? undefined : index;
}
