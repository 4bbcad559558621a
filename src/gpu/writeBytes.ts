/** Writes whole words to a buffer. Copies before it returns, also from shared memory, and takes views at any byte. */
export const writeBytes = (queue: GPUQueue, buffer: GPUBuffer, offset: number, bytes: Uint8Array): void =>
  queue.writeBuffer(buffer, offset, bytes.buffer, bytes.byteOffset, bytes.byteLength);
