import type { Blame } from "./blame.js";
import type { DeviceWatch } from "./deviceWatch.js";

/** Buffers that one task made and has to destroy. */
export class BufferSet {
  readonly #watch: DeviceWatch;
  readonly #buffers = new Set<GPUBuffer>();

  constructor(watch: DeviceWatch) {
    this.#watch = watch;
  }

  /** Makes a buffer inside error scopes, whose report `watch.settle()` waits for. */
  make(descriptor: GPUBufferDescriptor, blame: Blame): GPUBuffer {
    return this.#watch.guard(["out-of-memory", "validation"], blame, () => this.makeUnguarded(descriptor));
  }

  /** Makes a buffer inside the scopes that the caller opened. */
  makeUnguarded(descriptor: GPUBufferDescriptor): GPUBuffer {
    const buffer = this.#watch.device.createBuffer(descriptor);
    this.#buffers.add(buffer);
    return buffer;
  }

  /** Destroys one of them. */
  destroyOne(buffer: GPUBuffer): void {
    this.#buffers.delete(buffer);
    buffer.destroy();
  }

  /** Destroys all of them. */
  destroy(): void {
    if (this.#buffers.size === 0) return;
    for (const buffer of this.#buffers) buffer.destroy();
    this.#buffers.clear();
    this.#watch.device.queue.submit([]); // Chromium frees destroyed buffers only when something is submitted
  }
}
