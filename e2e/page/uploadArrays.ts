import { type Dtype, dtypes } from "../../src/arrays/dtypes.js";
import { type ArraySpec, type Block, elementCount } from "../../src/arrays/spec.js";
import type { GpuArray } from "../../src/gpu/gpuArray.js";
import { readBack } from "../../src/gpu/readBack.js";
import { type GpuUpload, openUpload } from "../../src/gpu/upload.js";
import { blocksOf, interleave } from "./chunking.js";
import { type Random, randomFrom } from "./random.js";

/** An array and how it is cut. */
export interface TestArray {
  readonly spec: ArraySpec;
  readonly chunkShape: readonly number[];
  readonly usage?: number | undefined;
  /** Size of a buffer of the caller's, filled with junk, to restore into. */
  readonly intoSize?: number | undefined;
}

/** What {@link upload} gives: the arrays, and for each the bytes that its buffer must hold from its start to its end. */
export interface Uploaded {
  readonly arrays: readonly GpuArray[];
  readonly contents: readonly Uint8Array<ArrayBuffer>[];
}

const itemsizes: Record<number, Dtype> = { 1: "int4", 2: "bfloat16", 4: "float32", 8: "complex64", 16: "complex128" };

/** A random shape, chunk shape and dtype of the given width with at least `elements` elements, in at most 2,000 chunks. */
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

/** Uploads random bytes for all arrays at once, their blocks interleaved and several writes under way together. */
export async function upload(device: GPUDevice, tests: readonly TestArray[], seed: number): Promise<Uploaded> {
  const random = randomFrom(seed);
  const givens = tests.map((array) => givenBuffer(device, array, random));
  const values = tests.map(({ spec }) => random.bytes(elementCount(spec.shape) * dtypes[spec.dtype].itemsize));
  const leaves = tests.map(({ spec, usage }, index) => ({ leaf: `leaf ${index}`, spec, usage, into: givens[index]?.buffer }));
  const under = await openUpload(device, leaves);
  const queues = tests.map(({ spec, chunkShape }, index) =>
    blocksOf(values[index] ?? new Uint8Array(), spec, chunkShape, random).map((block) => ({ index, block })),
  );
  const work = interleave(queues, random);
  const writers = random.integer(1, 4);
  await Promise.all(
    Array.from({ length: writers }, (_, writer) =>
      writeEach(
        under,
        work.filter((_, at) => at % writers === writer),
      ),
    ),
  );
  const arrays = await under.finish();
  const contents = arrays.map(({ buffer }, index) => expectedContent(buffer.size, values[index], givens[index]?.junk));
  return { arrays, contents };
}

/** Uploads, reads the whole buffers back and gives a line for each that is not as it should be. */
export async function uploadArrays(device: GPUDevice, tests: readonly TestArray[], seed: number): Promise<string[]> {
  const { arrays, contents } = await upload(device, tests, seed);
  const problems: string[] = [];
  for (const [index, { buffer, byteLength, read }] of arrays.entries()) {
    const expected = contents[index] ?? new Uint8Array();
    const difference = firstDifference(await readBack(device, buffer, Math.floor(buffer.size / 4) * 4), expected);
    const { spec, chunkShape, usage, intoSize } = tests[index] as TestArray;
    const name = `${spec.dtype}[${spec.shape}] in chunks [${chunkShape}], usage ${usage}, into ${intoSize}`;
    if (difference !== undefined) problems.push(`${name}: differs at byte ${difference} of ${byteLength}`);
    const { data } = await read.call(arrays[index]);
    if (data.byteLength !== byteLength) problems.push(`${name}: ${data.byteLength} bytes were read`);
    buffer.destroy();
  }
  return problems;
}

/** Compares buffers that lack COPY_SRC, but have UNIFORM, with the bytes they must hold. */
export async function differencesOfUniforms(device: GPUDevice, { arrays, contents }: Uploaded): Promise<string[]> {
  const problems: string[] = [];
  for (const [index, { buffer }] of arrays.entries()) {
    const difference = firstDifference(await readUniform(device, buffer), contents[index] ?? new Uint8Array());
    if (difference !== undefined) problems.push(`${buffer.label}: differs at byte ${difference}`);
  }
  return problems;
}

/** Copies a uniform buffer, whose size is a multiple of 16, with a shader. */
async function readUniform(device: GPUDevice, from: GPUBuffer): Promise<Uint8Array> {
  const code = /* wgsl */ `
    @group(0) @binding(0) var<uniform> source: array<vec4u, ${from.size / 16}>;
    @group(0) @binding(1) var<storage, read_write> copy: array<vec4u>;
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
      if (id.x < ${from.size / 16}) { copy[id.x] = source[id.x]; }
    }`;
  const pipeline = device.createComputePipeline({ layout: "auto", compute: { module: device.createShaderModule({ code }) } });
  const copy = device.createBuffer({ size: from.size, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC });
  const entries = [from, copy].map((buffer, binding) => ({ binding, resource: { buffer } }));
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
  pass.dispatchWorkgroups(Math.ceil(from.size / 16 / 64));
  pass.end();
  device.queue.submit([encoder.finish()]);
  return readBack(device, copy, from.size);
}

/** Writes from one scratch buffer that is reused as soon as a write resolves, as a decoder does. */
async function writeEach(under: GpuUpload, work: readonly { readonly index: number; readonly block: Block }[]): Promise<void> {
  const scratch = new Uint8Array(1 + Math.max(0, ...work.map(({ block }) => block.data.byteLength)));
  for (const { index, block } of work) {
    const data = scratch.subarray(1, 1 + block.data.byteLength);
    data.set(block.data);
    await under.write([{ index, block: { ...block, data } }]);
    data.fill(0xdd);
  }
}

/** The caller's buffer that a test asks for, and the junk that it holds. */
function givenBuffer(device: GPUDevice, { intoSize, usage = 0x8c }: TestArray, random: Random) {
  if (intoSize === undefined) return undefined;
  const junk = random.bytes(Math.floor(intoSize / 4) * 4);
  const buffer = device.createBuffer({ label: "given", size: intoSize, usage });
  device.queue.writeBuffer(buffer, 0, junk);
  return { buffer, junk };
}

/** Values, zeros up to the next word, then what was there before: zeros in a new buffer. */
function expectedContent(size: number, values = new Uint8Array(), junk = new Uint8Array()): Uint8Array<ArrayBuffer> {
  const content = new Uint8Array(Math.floor(size / 4) * 4);
  content.set(junk);
  content.fill(0, values.byteLength, Math.ceil(values.byteLength / 4) * 4);
  content.set(values);
  return content;
}

function firstDifference(received: Uint8Array, expected: Uint8Array): number | undefined {
  if (received.byteLength !== expected.byteLength) return Math.min(received.byteLength, expected.byteLength);
  const index = received.findIndex((byte, at) => byte !== expected[at]);
  return index < 0 ? undefined : index;
}
