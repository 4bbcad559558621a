import { dtypes } from "../arrays/dtypes.js";
import { type ArraySpec, elementCount } from "../arrays/spec.js";
import { DeviceError } from "../errors.js";
import { bufferUsage, defaultUsage, hasUsage } from "./bufferUsage.js";

/** An array bound for a GPU. */
export interface GpuLeaf {
  /** Item and leaf path, such as `model/dense/kernel`: the buffer's label, and the leaf's name in errors. */
  readonly leaf: string;
  readonly spec: ArraySpec;
  /** Usage bits of the new buffer, to which `COPY_DST` is added; by default `STORAGE | COPY_SRC | COPY_DST`. */
  readonly usage?: number | undefined;
  /** Buffer of the caller to write into instead of a new one; `usage` does not matter then. */
  readonly into?: GPUBuffer | undefined;
}

/** Limits to ask `requestDevice` for, in bytes. A type, not an interface, so that it fits `GPUDeviceDescriptor.requiredLimits`. */
export type BufferLimits = {
  readonly maxBufferSize: number;
  readonly maxStorageBufferBindingSize: number;
};

/** What every device has, whatever was asked for (the specification's default limits), in bytes. */
const defaultLimits: BufferLimits = { maxBufferSize: 256 * 1024 * 1024, maxStorageBufferBindingSize: 128 * 1024 * 1024 };

/** Bytes of an array as a buffer holds them, without padding: one element after the other in C order. */
export const gpuByteLength = ({ shape, dtype }: ArraySpec): number => elementCount(shape) * dtypes[dtype].itemsize;

/** Rounds up to whole 32-bit words, in which WebGPU copies. */
export const wholeWords = (byteLength: number): number => Math.ceil(byteLength / 4) * 4;

/** Size of an array's buffer in bytes: a multiple of 16 (ONNX Runtime needs that), and at least 16, so that it can be bound. */
export const gpuBufferSize = (spec: ArraySpec): number => Math.max(16, Math.ceil(gpuByteLength(spec) / 16) * 16);

/** Usage bits that a leaf's buffer has or gets. */
export const usageOf = ({ usage = defaultUsage, into }: GpuLeaf): number => into?.usage ?? usage | bufferUsage.COPY_DST;

/** Limits that a device needs to hold these arrays, each whole in one storage binding; never less than every device has. */
export function requiredLimits(specs: readonly ArraySpec[]): BufferLimits {
  const largest = specs.reduce((most, spec) => Math.max(most, gpuBufferSize(spec)), 0);
  return {
    maxBufferSize: Math.max(defaultLimits.maxBufferSize, largest),
    maxStorageBufferBindingSize: Math.max(defaultLimits.maxStorageBufferBindingSize, largest),
  };
}

/**
 * Checks sizes, usages and given buffers of all leaves before the first buffer is made. Whether a given buffer was destroyed or
 * belongs to another device cannot be seen from it: `openUpload` asks the device.
 * @throws DeviceError `"limit"` or `"validation"` for the first leaf that cannot be held.
 */
export function checkGpuLeaves(device: { readonly limits: Readonly<BufferLimits> }, leaves: readonly GpuLeaf[]): void {
  const wanted = requiredLimits(leaves.flatMap(({ spec, into }) => (into === undefined ? [spec] : [])));
  const given = new Map<GPUBuffer, string>();
  for (const leaf of leaves) {
    if (leaf.into === undefined) {
      checkUsage(leaf);
      checkSize(leaf, "maxBufferSize", device.limits, wanted);
      if (hasUsage(usageOf(leaf), bufferUsage.STORAGE)) checkSize(leaf, "maxStorageBufferBindingSize", device.limits, wanted);
    } else {
      checkGivenBuffer(leaf, leaf.into);
      const other = given.get(leaf.into);
      if (other !== undefined) throw invalid(leaf, `its buffer is also the one given for ${other}; give each leaf its own`);
      given.set(leaf.into, leaf.leaf);
    }
  }
}

function checkSize({ leaf, spec }: GpuLeaf, name: keyof BufferLimits, limits: Readonly<BufferLimits>, wanted: BufferLimits): void {
  const bytes = gpuBufferSize(spec);
  const value = limits[name];
  if (bytes <= value) return;
  throw new DeviceError({
    reason: "limit",
    leaf,
    bytes,
    limit: { name, value },
    message:
      `its buffer takes ${bytes} bytes, more than the device's ${name} of ${value}; request the device with requiredLimits ` +
      `{ maxBufferSize: ${wanted.maxBufferSize}, maxStorageBufferBindingSize: ${wanted.maxStorageBufferBindingSize} }, ` +
      `which the adapter must have, or restore this leaf into memory`,
  });
}

function checkUsage(leaf: GpuLeaf): void {
  const usage = usageOf(leaf);
  const readable = bufferUsage.MAP_READ | bufferUsage.COPY_DST;
  if (hasUsage(usage, bufferUsage.MAP_WRITE)) throw invalid(leaf, "a buffer with MAP_WRITE cannot take an upload; leave that usage out");
  if (hasUsage(usage, bufferUsage.MAP_READ) && usage !== readable) {
    throw invalid(leaf, "WebGPU allows MAP_READ only together with COPY_DST; leave it out, GpuArray.read() does not need it");
  }
}

function checkGivenBuffer(leaf: GpuLeaf, buffer: GPUBuffer): void {
  const needed = wholeWords(gpuByteLength(leaf.spec));
  if (!hasUsage(buffer.usage, bufferUsage.COPY_DST)) throw invalid(leaf, "the buffer given as into needs the usage COPY_DST");
  if (buffer.size < needed) throw invalid(leaf, `the buffer given as into has ${buffer.size} bytes, the array needs ${needed}`);
  if (buffer.mapState === "mapped" || buffer.mapState === "pending")
    throw invalid(leaf, "the buffer given as into is mapped; unmap it first");
}

const invalid = ({ leaf, spec }: GpuLeaf, message: string) =>
  new DeviceError({ reason: "validation", leaf, bytes: gpuBufferSize(spec), message });
