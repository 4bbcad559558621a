import { type Blame, blameLargest } from "./blame.js";
import type { BufferSet } from "./bufferSet.js";
import type { DeviceWatch } from "./deviceWatch.js";
import { type GpuLeaf, gpuBufferSize, usageOf } from "./limits.js";

/** A leaf with the buffer that it goes into. */
export interface HeldLeaf extends GpuLeaf {
  readonly buffer: GPUBuffer;
}

/** Buffers that share one pair of error scopes: a report costs about 50 µs in Chromium, a small buffer 10. */
const largestBatch = { buffers: 64, bytes: 16 * 1024 * 1024 };

/**
 * Makes the buffer of each leaf, or takes the one given for it, all at once. Whether the device has memory for them it says later, which
 * fails the watch: reading need not wait until it has made them, which may take it half a second a gigabyte.
 * @throws DeviceError where the device refuses a given one, before anything is made.
 */
export async function createLeafBuffers(watch: DeviceWatch, set: BufferSet, leaves: readonly GpuLeaf[]): Promise<HeldLeaf[]> {
  await probeGivenBuffers(watch, leaves);
  return batchesOf(leaves).flatMap((batch) => createBatch(watch, set, batch));
}

/** Writing nothing changes nothing, and yet the device says whether it could: destroyed, mapped or another device's buffers fail. */
async function probeGivenBuffers(watch: DeviceWatch, leaves: readonly GpuLeaf[]): Promise<void> {
  for (const leaf of leaves) {
    const { into } = leaf;
    if (into === undefined) continue;
    const blame = blameOf(leaf, "to take the buffer given as into, which must be this device's, neither mapped nor destroyed");
    watch.guard(["validation"], blame, () => watch.device.queue.writeBuffer(into, 0, new Uint8Array(0)));
  }
  await watch.settle();
}

function createBatch(watch: DeviceWatch, set: BufferSet, [first, ...others]: Batch): HeldLeaf[] {
  const blame = blameLargest([blameOf(first), ...others.map((leaf) => blameOf(leaf))], "made with it");
  return watch.guard(["out-of-memory", "validation"], blame, () =>
    [first, ...others].map((leaf) => ({
      ...leaf,
      buffer: leaf.into ?? set.makeUnguarded({ label: leaf.leaf, size: gpuBufferSize(leaf.spec), usage: usageOf(leaf) }),
    })),
  );
}

const blameOf = ({ leaf, spec }: GpuLeaf, doing = "making its buffer"): Blame => ({ leaf, bytes: gpuBufferSize(spec), doing });

type Batch = [GpuLeaf, ...GpuLeaf[]];

function batchesOf(leaves: readonly GpuLeaf[]): Batch[] {
  const batches: Batch[] = [];
  let bytes = 0;
  for (const leaf of leaves) {
    const size = leaf.into === undefined ? gpuBufferSize(leaf.spec) : 0;
    const batch = batches.at(-1);
    bytes += size;
    if (batch !== undefined && batch.length < largestBatch.buffers && bytes <= largestBatch.bytes) {
      batch.push(leaf);
    } else {
      batches.push([leaf]);
      bytes = size;
    }
  }
  return batches;
}
