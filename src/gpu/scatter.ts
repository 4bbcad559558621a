import { dtypes } from "../arrays/dtypes.js";
import type { ArraySpec, Block } from "../arrays/spec.js";
import type { Blame } from "./blame.js";
import type { BufferSet } from "./bufferSet.js";
import { bufferUsage } from "./bufferUsage.js";
import type { DeviceWatch } from "./deviceWatch.js";
import { gpuByteLength, wholeWords } from "./limits.js";
import { writeScopes } from "./placement.js";
import { type ScatterAxes, scatterAxesOf } from "./scatterAxes.js";
import { mostAxes, pieceBytes, scatterShader, workgroupWords } from "./scatterShader.js";
import { writeBytes } from "./writeBytes.js";

/** Bytes of a block that go to the device at once, where the upload's window has room for them. */
const mostStagingBytes = 4 * 1024 * 1024;

/** Whether the shader can address an array: its numbers have 32 bits. */
export const canScatter = (spec: ArraySpec): boolean => gpuByteLength(spec) < 2 ** 32 && spec.shape.length < mostAxes;

interface Program {
  readonly pipeline: GPUComputePipeline;
  readonly staging: GPUBuffer;
  readonly piece: GPUBuffer;
}

/** Places blocks whose rows are short or begin inside a word, with a compute shader: the whole array is never copied. */
export class Scatter {
  /** Most bytes of one block. */
  readonly longestBlock: number;
  readonly #watch: DeviceWatch;
  readonly #scratch: BufferSet;
  #program: Program | undefined;

  /** What it needs on the device is made at the first block, into `scratch`: a buffer of {@link longestBlock}, at most `longest` bytes. */
  constructor(watch: DeviceWatch, scratch: BufferSet, longest = mostStagingBytes) {
    this.longestBlock = Math.min(longest, mostStagingBytes);
    this.#watch = watch;
    this.#scratch = scratch;
  }

  /**
   * Places a block of at most {@link longestBlock} bytes in an array's buffer, which has STORAGE and is zero there. To be called
   * inside {@link writeScopes}.
   */
  place(buffer: GPUBuffer, spec: ArraySpec, block: Block, blame: Blame): void {
    this.#program ??= this.#build(blame);
    const { staging, piece, pipeline } = this.#program;
    const { device } = this.#watch;
    const axes = scatterAxesOf(spec.shape, block, dtypes[spec.dtype].itemsize);
    writePadded(device.queue, staging, block.data);
    for (const window of windowsOf(wholeWords(gpuByteLength(spec)), device.limits.maxStorageBufferBindingSize)) {
      device.queue.writeBuffer(piece, 0, pieceOf(axes, block.data.byteLength, window));
      const entries = [{ buffer: piece }, { buffer: staging }, { buffer, ...window }];
      const bindings = entries.map((resource, binding) => ({ binding, resource }));
      const group = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: bindings });
      dispatch(device, pipeline, group, Math.ceil(block.data.byteLength / 4 / workgroupWords));
    }
  }

  #build(blame: Blame): Program {
    const { device } = this.#watch;
    const doing = "preparing to place its chunks";
    const pipeline = this.#watch.guard([...writeScopes, "internal"], { ...blame, doing }, () => {
      const module = device.createShaderModule({ label: "orbax-webgpu scatter", code: scatterShader });
      return device.createComputePipeline({ label: "orbax-webgpu scatter", layout: "auto", compute: { module } });
    });
    const make = (size: number, usage: number) =>
      this.#scratch.make({ label: "orbax-webgpu scatter", size, usage: usage | bufferUsage.COPY_DST }, { ...blame, doing });
    return { pipeline, staging: make(this.longestBlock, bufferUsage.STORAGE), piece: make(pieceBytes, bufferUsage.UNIFORM) };
  }
}

function dispatch(device: GPUDevice, pipeline: GPUComputePipeline, group: GPUBindGroup, workgroups: number): void {
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, group);
  pass.dispatchWorkgroups(workgroups);
  pass.end();
  device.queue.submit([encoder.finish()]);
}

/** Writes bytes to a buffer's start, the last word filled with zeros. */
function writePadded(queue: GPUQueue, buffer: GPUBuffer, bytes: Uint8Array): void {
  const whole = bytes.byteLength - (bytes.byteLength % 4);
  if (whole > 0) writeBytes(queue, buffer, 0, bytes.subarray(0, whole));
  if (whole === bytes.byteLength) return;
  const last = new Uint8Array(4);
  last.set(bytes.subarray(whole));
  writeBytes(queue, buffer, whole, last);
}

/** Parts of a buffer that can be bound one at a time; bindings begin at multiples of 256 on every device. */
function* windowsOf(bytes: number, longest: number): Generator<{ readonly offset: number; readonly size: number }> {
  const step = Math.floor(longest / 256) * 256;
  for (let offset = 0; offset < bytes; offset += step) yield { offset, size: Math.min(step, bytes - offset) };
}

/** The shader's `Piece`. */
function pieceOf(
  { unit, axes }: ScatterAxes,
  bytes: number,
  window: { readonly offset: number; readonly size: number },
): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(pieceBytes / 4);
  words.set([bytes / unit, unit, axes.length, window.offset, window.size]);
  for (const [index, { chunk, array, origin, start }] of axes.entries()) words.set([chunk, array, origin, start], 8 + 4 * index);
  return words;
}
