/** Makes a buffer that lives as long as one run; size in bytes. */
export type MakeBuffer = (size: number, usage: GPUBufferUsageFlags) => GPUBuffer;

/** Buffers that are freed together. */
export function scratchBuffers(device: GPUDevice): { readonly make: MakeBuffer; destroy(): void } {
  const made: GPUBuffer[] = [];
  return {
    make(size, usage) {
      const buffer = device.createBuffer({ size, usage });
      made.push(buffer);
      return buffer;
    },
    destroy() {
      for (const buffer of made) buffer.destroy();
    },
  };
}
