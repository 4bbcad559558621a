import type { TaskContext } from "../tasks/context.js";
import type { Blame } from "./blame.js";
import { BufferSet } from "./bufferSet.js";
import { bufferUsage } from "./bufferUsage.js";
import { DeviceWatch } from "./deviceWatch.js";
import { wholeWords } from "./limits.js";

/** Most bytes that are mapped at once. */
const stagingBytes = 16 * 1024 * 1024;

/**
 * Copies the first `byteLength` bytes of a buffer with COPY_SRC into memory, in pieces.
 * @throws DeviceError where the device fails or is lost, and the signal's reason on abort.
 */
export async function readBack(
  device: GPUDevice,
  buffer: GPUBuffer,
  byteLength: number,
  { signal }: TaskContext = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const result = new Uint8Array(byteLength);
  if (byteLength === 0) return result;
  const watch = new DeviceWatch(device, { signal });
  const scratch = new BufferSet(watch);
  const blame = { leaf: buffer.label, bytes: buffer.size, doing: "reading its buffer" };
  try {
    const size = Math.min(wholeWords(byteLength), stagingBytes);
    const staging = scratch.make({ label: "orbax-webgpu read-back", size, usage: bufferUsage.MAP_READ | bufferUsage.COPY_DST }, blame);
    for (let offset = 0; offset < byteLength; offset += size) {
      const piece = result.subarray(offset, offset + size);
      await copyOut(watch, buffer, offset, staging, piece, blame);
    }
    return result;
  } finally {
    scratch.destroy();
    watch.close();
  }
}

/** Fills `piece` with the buffer's bytes from `offset`. */
async function copyOut(
  watch: DeviceWatch,
  buffer: GPUBuffer,
  offset: number,
  staging: GPUBuffer,
  piece: Uint8Array,
  blame: Blame,
): Promise<void> {
  const { device } = watch;
  const size = wholeWords(piece.byteLength);
  watch.guard(["validation", "out-of-memory"], blame, () => {
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, offset, staging, 0, size);
    device.queue.submit([encoder.finish()]);
  });
  await watch.settle();
  await watch.wait(staging.mapAsync(1, 0, size), blame); // GPUMapMode.READ, which exists only in browsers
  piece.set(new Uint8Array(staging.getMappedRange(0, size), 0, piece.byteLength));
  staging.unmap();
}
