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
 * The buffers of an upload's leaves, each made when it is written to first, together with the leaves around it: making them takes a device
 * half a second a gigabyte, in which it takes no bytes. Whether it has memory for them it says later, which fails the watch.
 */
export class LeafBuffers {
  readonly #watch: DeviceWatch;
  readonly #set: BufferSet;
  readonly #batches: readonly Batch[];
  /** The batch of each leaf, and its place there. */
  readonly #places: readonly { readonly batch: number; readonly index: number }[];
  readonly #held: HeldLeaf[][] = [];

  constructor(watch: DeviceWatch, set: BufferSet, leaves: readonly GpuLeaf[]) {
    this.#watch = watch;
    this.#set = set;
    this.#batches = batchesOf(leaves);
    this.#places = this.#batches.flatMap((batch, at) => batch.map((_, index) => ({ batch: at, index })));
  }

  /** Number of leaves. */
  get length(): number {
    return this.#places.length;
  }

  /** The leaf at `index` with its buffer. */
  held(index: number): HeldLeaf | undefined {
    const place = this.#places[index];
    if (place === undefined) return undefined;
    const batch = this.#batches[place.batch];
    if (batch === undefined) return undefined;
    this.#held[place.batch] ??= createBatch(this.#watch, this.#set, batch);
    return this.#held[place.batch]?.[place.index];
  }

  /** All leaves in their order; makes the buffers that nothing was written to. */
  all(): HeldLeaf[] {
    return this.#places.flatMap((_, index) => this.held(index) ?? []);
  }
}

/**
 * Writing nothing changes nothing, and yet the device says whether it could.
 * @throws DeviceError where it refuses a buffer given as `into`: a destroyed or mapped one, or another device's.
 */
export async function probeGivenBuffers(watch: DeviceWatch, leaves: readonly GpuLeaf[]): Promise<void> {
  for (const leaf of leaves) {
    const { into } = leaf;
    if (into === undefined) continue;
    const blame = blameOf(leaf, "to take the buffer given as into");
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
