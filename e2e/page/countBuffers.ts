/** Buffers that a device made, and which of them are still there. */
export interface BufferCount {
  readonly made: number;
  readonly alive: number;
  /** Bytes of those that are still there. */
  readonly aliveBytes: number;
}

/** Counts the buffers of a device from now on; works on any object with `createBuffer`. */
export function countBuffers(device: Pick<GPUDevice, "createBuffer">): () => BufferCount {
  const alive = new Set<GPUBuffer>();
  let made = 0;
  const createBuffer = device.createBuffer.bind(device);
  device.createBuffer = (descriptor) => {
    const buffer = createBuffer(descriptor);
    made++;
    alive.add(buffer);
    const destroy = buffer.destroy.bind(buffer);
    buffer.destroy = () => {
      alive.delete(buffer);
      return destroy();
    };
    return buffer;
  };
  return () => ({ made, alive: alive.size, aliveBytes: [...alive].reduce((bytes, { size }) => bytes + size, 0) });
}
