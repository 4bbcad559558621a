import { aSignal, requireOptions } from "../arguments.js";
import { type Dtype, dtypes } from "../arrays/dtypes.js";
import type { HostArray } from "../arrays/hostArray.js";
import { elementCount } from "../arrays/spec.js";
import { DeviceError } from "../errors.js";
import type { TaskContext } from "../tasks/context.js";
import { bufferUsage, hasUsage } from "./bufferUsage.js";
import { readBack } from "./readBack.js";

/** An array in a GPU buffer: little endian, in C order, from the buffer's first byte; sub-byte dtypes take a byte an element. */
export interface GpuArray<Name extends Dtype = Dtype> {
  readonly shape: readonly number[];
  readonly dtype: Name;
  readonly buffer: GPUBuffer;
  /** Bytes of the elements; the buffer is larger where padding or a minimum size makes it so. */
  readonly byteLength: number;
  readonly device: GPUDevice;
  /**
   * Copies the array into memory.
   * @throws DeviceError `"validation"` where the buffer lacks COPY_SRC or was destroyed, `"lost"` where the device is gone.
   */
  read(context?: TaskContext): Promise<HostArray<Name>>;
  /** Frees the buffer, unless the caller gave it as `into`; further calls do nothing. */
  destroy(): void;
}

/** What an array in a buffer is made of. */
export interface GpuArrayParts<Name extends Dtype> {
  readonly spec: { readonly shape: readonly number[]; readonly dtype: Name };
  readonly device: GPUDevice;
  readonly buffer: GPUBuffer;
  /** Whether `destroy` frees the buffer. */
  readonly owned: boolean;
}

/** Describes a buffer that holds an array. */
export const gpuArray = <Name extends Dtype>(parts: GpuArrayParts<Name>): GpuArray<Name> => new ArrayOnGpu(parts);

class ArrayOnGpu<Name extends Dtype> implements GpuArray<Name> {
  readonly shape: readonly number[];
  readonly dtype: Name;
  readonly buffer: GPUBuffer;
  readonly byteLength: number;
  readonly device: GPUDevice;
  readonly #owned: boolean;
  #destroyed = false;

  constructor({ spec, device, buffer, owned }: GpuArrayParts<Name>) {
    this.shape = spec.shape;
    this.dtype = spec.dtype;
    this.buffer = buffer;
    this.byteLength = elementCount(spec.shape) * dtypes[spec.dtype].itemsize;
    this.device = device;
    this.#owned = owned;
  }

  async read(context: TaskContext = {}): Promise<HostArray<Name>> {
    requireOptions("read", context, { signal: aSignal });
    context.signal?.throwIfAborted();
    if (this.#destroyed) throw this.#unreadable("the array was destroyed; read it before, or restore it again");
    if (!hasUsage(this.buffer.usage, bufferUsage.COPY_SRC)) {
      throw this.#unreadable("its buffer lacks the usage COPY_SRC, without which it cannot be read; restore it with that usage");
    }
    // Begun at once: it gives what the buffer holds now, whatever is submitted or destroyed next.
    const copied = readBack(this.device, this.buffer, this.byteLength, context);
    const [bytes, { hostArray }] = await Promise.all([copied, import("../arrays/hostArray.js")]);
    return hostArray(this, bytes);
  }

  destroy(): void {
    if (this.#destroyed || !this.#owned) return;
    this.#destroyed = true;
    this.buffer.destroy();
    this.device.queue.submit([]); // Chromium frees destroyed buffers only when something is submitted
  }

  #unreadable(message: string): DeviceError {
    return new DeviceError({ reason: "validation", leaf: this.buffer.label, bytes: this.buffer.size, message });
  }
}
