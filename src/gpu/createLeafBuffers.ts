import type { BufferSet } from "./bufferSet.js";
import type { DeviceWatch } from "./deviceWatch.js";
import { type GpuLeaf, gpuBufferSize, usageOf } from "./limits.js";

/** A leaf with the buffer that it goes into. */
export interface HeldLeaf extends GpuLeaf {
  readonly buffer: GPUBuffer;
}

/** Buffers that share one pair of error scopes: a report costs about 70 µs in Chromium, a small buffer 10. */
const largestBatch = { buffers: 64, bytes: 16 * 1024 * 1024 };

/** Most bytes of buffers that are asked for before the first answer has come, so that running out of memory ends soon. */
const aheadBytes = 256 * 1024 * 1024;

/**
 * Makes the buffer of each leaf, or takes the one given for it; all of them, before anything is written.
 * @throws DeviceError where the device has no memory for one, or refuses a given one.
 */
export async function createLeafBuffers(watch: DeviceWatch, set: BufferSet, leaves: readonly GpuLeaf[]): Promise<HeldLeaf[]> {
  probeGivenBuffers(watch, leaves);
  await watch.settle();
  const held: HeldLeaf[] = [];
  let ahead = 0;
  for (const batch of batchesOf(leaves)) {
    held.push(...createBatch(watch, set, batch));
    ahead += bytesOf(batch);
    if (ahead < aheadBytes) continue;
    await watch.settle();
    ahead = 0;
  }
  await watch.settle();
  return held;
}

/** Writing nothing changes nothing, and yet the device says whether it could: destroyed, mapped or another device's buffers fail. */
function probeGivenBuffers(watch: DeviceWatch, leaves: readonly GpuLeaf[]): void {
  for (const { leaf, spec, into } of leaves) {
    if (into === undefined) continue;
    const doing = "to take the buffer given as into, which must be this device's, neither mapped nor destroyed";
    const blame = { leaf, bytes: gpuBufferSize(spec), doing };
    watch.guard(["validation"], blame, () => watch.device.queue.writeBuffer(into, 0, new Uint8Array(0)));
  }
}

function createBatch(watch: DeviceWatch, set: BufferSet, batch: readonly GpuLeaf[]): HeldLeaf[] {
  const largest = batch.reduce((most, leaf) => (gpuBufferSize(leaf.spec) > gpuBufferSize(most.spec) ? leaf : most));
  const others = batch.length > 1 ? ` or one of the ${batch.length - 1} made with it` : "";
  const blame = { leaf: largest.leaf, bytes: gpuBufferSize(largest.spec), doing: `making its buffer${others}` };
  return watch.guard(["out-of-memory", "validation"], blame, () =>
    batch.map((leaf) => ({
      ...leaf,
      buffer: leaf.into ?? set.makeUnguarded({ label: leaf.leaf, size: gpuBufferSize(leaf.spec), usage: usageOf(leaf) }),
    })),
  );
}

function* batchesOf(leaves: readonly GpuLeaf[]): Generator<readonly GpuLeaf[]> {
  let batch: GpuLeaf[] = [];
  for (const leaf of leaves) {
    if (batch.length === largestBatch.buffers || bytesOf([...batch, leaf]) > largestBatch.bytes) {
      if (batch.length > 0) yield batch;
      batch = [];
    }
    batch.push(leaf);
  }
  if (batch.length > 0) yield batch;
}

/** Bytes that new buffers of these leaves take. */
const bytesOf = (leaves: readonly GpuLeaf[]) =>
  leaves.reduce((bytes, { spec, into }) => bytes + (into === undefined ? gpuBufferSize(spec) : 0), 0);
