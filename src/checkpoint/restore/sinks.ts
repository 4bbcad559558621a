import { requireArgument } from "../../arguments.js";
import type { HostArray } from "../../arrays/hostArray.js";
import { placeBlock } from "../../arrays/place.js";
import type { Block } from "../../arrays/spec.js";
import { DeviceError } from "../../errors.js";
import { aDevice } from "../../gpu/deviceRules.js";
import type { GpuArray } from "../../gpu/gpuArray.js";
import { checkGpuLeaves, type GpuLeaf } from "../../gpu/limits.js";
import { type GpuUpload, openUpload } from "../../gpu/upload.js";
import type { TaskContext } from "../../tasks/context.js";
import type { WriteBlocks } from "./delivery.js";
import type { PlannedLeaf } from "./planRestore.js";

/** Takes the blocks of planned leaves, in memory and on any number of devices. */
export interface Sinks {
  write: WriteBlocks<PlannedLeaf>;
  /** Waits for all GPUs; the finished arrays by leaf. */
  finish(): Promise<ReadonlyMap<PlannedLeaf, HostArray | GpuArray>>;
  /** Destroys every GPUBuffer that was made. */
  abort(): void;
}

/** Name of a leaf in errors, progress and buffer labels: item, if it has a name, and path. */
export const leafName = ({ item, stored }: PlannedLeaf): string => [item, stored.path].filter((part) => part !== "").join("/");

/**
 * Checks sizes, limits and usages of all leaves bound for devices, before anything is requested.
 * @throws DeviceError naming the leaf and the limit, CheckpointValueError for what is no device.
 */
export function checkDevices(leaves: Iterable<PlannedLeaf>): void {
  for (const [device, bound] of byDevice(leaves)) {
    requireArgument(`the device of ${bound[0] === undefined ? "a leaf" : leafName(bound[0]) || "the array"}`, device, aDevice);
    checkGpuLeaves(device, bound.map(gpuLeaf));
  }
}

/** How many devices take leaves. */
export const countDevices = (leaves: Iterable<PlannedLeaf>): number => byDevice(leaves).size;

/**
 * Makes room for all leaves.
 * @param windowBytes most bytes sent to each device and not yet taken by it.
 * @throws DeviceError where memory or a device cannot hold them; nothing is left then.
 */
export async function openSinks(leaves: readonly PlannedLeaf[], windowBytes: number, context: TaskContext): Promise<Sinks> {
  const memory = new Map(leaves.filter(({ place }) => place === "memory").map((leaf) => [leaf, allocate(leaf)]));
  const uploads = new Map<PlannedLeaf, { readonly upload: GpuUpload; readonly index: number }>();
  const opened: { readonly upload: GpuUpload; readonly bound: readonly PlannedLeaf[] }[] = [];
  const abort = () => {
    for (const { upload } of opened) upload.abort();
  };
  try {
    for (const [device, bound] of byDevice(leaves)) {
      const upload = await openUpload(device, bound.map(gpuLeaf), { ...context, windowBytes });
      opened.push({ upload, bound });
      for (const [index, leaf] of bound.entries()) uploads.set(leaf, { upload, index });
    }
  } catch (error) {
    abort();
    throw error;
  }
  return {
    abort,
    write(blocks) {
      const sent = new Map<GpuUpload, { index: number; block: Block }[]>();
      for (const { target, block } of blocks) {
        const bytes = memory.get(target);
        if (bytes !== undefined) placeBlock(bytes, target.spec, block);
        const found = uploads.get(target);
        if (found === undefined) continue;
        const batch = sent.get(found.upload) ?? [];
        sent.set(found.upload, batch);
        batch.push({ index: found.index, block });
      }
      return writeAll(sent);
    },
    async finish() {
      const arrays = new Map<PlannedLeaf, HostArray | GpuArray>();
      if (memory.size > 0) {
        const { hostArray } = await import("../../arrays/hostArray.js");
        for (const [leaf, bytes] of memory) arrays.set(leaf, hostArray(leaf.spec, bytes));
      }
      for (const { upload, bound } of opened) {
        const finished = await upload.finish();
        for (const [index, leaf] of bound.entries()) {
          const array = finished[index];
          if (array !== undefined) arrays.set(leaf, array);
        }
      }
      return arrays;
    },
  };
}

/** Without a promise where every device has room. */
function writeAll(sent: ReadonlyMap<GpuUpload, readonly { readonly index: number; readonly block: Block }[]>): Promise<void> | void {
  const writes = Array.from(sent, ([upload, batch]) => upload.write(batch)).filter((write) => write !== undefined);
  if (writes.length > 0) return Promise.all(writes).then(() => undefined);
}

function byDevice(leaves: Iterable<PlannedLeaf>): Map<GPUDevice, PlannedLeaf[]> {
  const groups = new Map<GPUDevice, PlannedLeaf[]>();
  for (const leaf of leaves) {
    if (leaf.place === "memory") continue;
    const group = groups.get(leaf.place) ?? [];
    groups.set(leaf.place, group);
    group.push(leaf);
  }
  return groups;
}

const gpuLeaf = (leaf: PlannedLeaf): GpuLeaf => ({
  leaf: leafName(leaf),
  spec: leaf.spec,
  ...(leaf.usage !== undefined && { usage: leaf.usage }),
  ...(leaf.into && { into: leaf.into }),
});

function allocate(leaf: PlannedLeaf): Uint8Array {
  try {
    return new Uint8Array(leaf.byteLength);
  } catch (cause) {
    throw new DeviceError({
      reason: "out-of-memory",
      leaf: leafName(leaf),
      bytes: leaf.byteLength,
      message: `the page's memory cannot hold an array of ${leaf.byteLength} bytes; restore it onto a device`,
      cause,
    });
  }
}
