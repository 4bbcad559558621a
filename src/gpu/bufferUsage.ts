/**
 * Bits of a buffer's usage, as the WebGPU specification numbers them. `GPUBufferUsage` itself exists only in browsers, and
 * importing this package must not touch it.
 */
export const bufferUsage = {
  MAP_READ: 0x001,
  MAP_WRITE: 0x002,
  COPY_SRC: 0x004,
  COPY_DST: 0x008,
  UNIFORM: 0x040,
  STORAGE: 0x080,
} as const;

/** Usage of a restored buffer unless the template asks otherwise: shaders may bind it, and it can be read back and replaced. */
export const defaultUsage = bufferUsage.STORAGE | bufferUsage.COPY_SRC | bufferUsage.COPY_DST;

/** Whether a buffer's usage has all the bits. */
export const hasUsage = (usage: number, bits: number): boolean => (usage & bits) === bits;
