import type { ArrayDescription } from "../protocol.js";
import type { Loaded } from "./contenders.js";

const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;

/** A buffer such as a restore makes. */
const createArrayBuffer = (device: GPUDevice, byteLength: number): GPUBuffer =>
  device.createBuffer({ size: Math.ceil(byteLength / 4) * 4, usage });

/** Buffers that are made as they are needed, by the arrays' names. */
export class ArrayBuffers implements Loaded {
  readonly buffers = new Map<string, GPUBuffer>();
  readonly #device: GPUDevice;

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  of({ name, byteLength }: Pick<ArrayDescription, "name" | "byteLength">): GPUBuffer {
    const buffer = this.buffers.get(name) ?? createArrayBuffer(this.#device, byteLength);
    this.buffers.set(name, buffer);
    return buffer;
  }

  free(): void {
    for (const buffer of this.buffers.values()) buffer.destroy();
  }
}
