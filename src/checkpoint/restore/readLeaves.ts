import { dtypes } from "../../arrays/dtypes.js";
import type { HostArray } from "../../arrays/hostArray.js";
import type { Block } from "../../arrays/spec.js";
import type { GpuArray } from "../../gpu/gpuArray.js";
import { ByteBudget } from "../../tasks/budget.js";
import type { TaskContext } from "../../tasks/context.js";
import type { Pace } from "../../tasks/pace.js";
import { stopTogether } from "../../tasks/stopTogether.js";
import type { ZarrArray } from "../../zarr/openArray.js";
import { withFolder } from "../item/errorPaths.js";
import type { ItemIndex } from "../item/openItem.js";
import { divideBytes } from "./bytesInFlight.js";
import { decodingOf } from "./decode/decoding.js";
import type { TargetBlock, WriteBlocks } from "./delivery.js";
import { type LocatedChunk, locateChunks, requireFewChunks } from "./locateChunks.js";
import type { ArrayChunks } from "./neededChunks.js";
import type { PlannedLeaf } from "./planRestore.js";
import { type LeafProgress, RestoreProgress } from "./restoreProgress.js";
import { checkDevices, countDevices, leafName, openSinks, type Sinks } from "./sinks.js";
import { moveBytes, type Transfer } from "./transfer.js";

/** What reads regions of arrays, of their chunks only what is needed. */
export interface RegionReading {
  neededChunks(array: ZarrArray, located: readonly LocatedChunk[], context: TaskContext): Promise<ArrayChunks[]>;
  /** What of a block lies in an array. */
  cropBlock(block: Block, arrayShape: readonly number[], itemsize: number): Block | undefined;
}

/**
 * Reads planned leaves: checks the devices, finds the chunks, makes room, moves the bytes.
 * @param regions needed where the leaves are regions.
 * @throws as `Checkpoint` documents; every GPUBuffer made until then is destroyed.
 */
export async function readLeaves(
  indexes: readonly ItemIndex[],
  leaves: readonly PlannedLeaf[],
  readConcurrentBytes: number,
  pace: Pace,
  context: TaskContext,
  regions?: RegionReading,
): Promise<ReadonlyMap<PlannedLeaf, HostArray | GpuArray>> {
  checkDevices(leaves);
  requireFewChunks(leaves.map(({ stored }) => stored.array));
  const located = await stopTogether((together) => locateLeaves(indexes, leaves, regions, pace, together), context);
  const totalBytes = leaves.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const progress = new RestoreProgress(totalBytes, leaves.length, context);
  const { reading, sending } = divideBytes(readConcurrentBytes, countDevices(leaves));
  const sinks = await openSinks(leaves, sending, context);
  try {
    const transfers = located.flatMap((leaf) => transfersOf(leaf, progress));
    await moveBytes(transfers, { budget: new ByteBudget(reading), decoding: decodingOf, write: writer(sinks, regions) }, context);
    const arrays = await sinks.finish();
    progress.done();
    context.signal?.throwIfAborted();
    return arrays;
  } catch (error) {
    progress.stop();
    sinks.abort();
    throw error;
  }
}

/** A leaf and its chunks. */
interface LocatedLeaf extends Pick<Transfer, "folder" | "missingChunksAreLost"> {
  readonly leaf: PlannedLeaf;
  readonly parts: readonly ArrayChunks[];
}

/** Finds the chunks of all leaves, item by item at once. */
async function locateLeaves(
  indexes: readonly ItemIndex[],
  leaves: readonly PlannedLeaf[],
  regions: RegionReading | undefined,
  pace: Pace,
  context: TaskContext,
): Promise<LocatedLeaf[]> {
  const byItem = new Map<string, PlannedLeaf[]>(indexes.map(({ name }) => [name, []]));
  for (const leaf of leaves) byItem.get(leaf.item)?.push(leaf);
  const located = indexes.map((index) => withFolder(index.folder, locateIn(index, byItem.get(index.name) ?? [], regions, pace, context)));
  return (await Promise.all(located)).flat();
}

async function locateIn(
  index: ItemIndex,
  leaves: readonly PlannedLeaf[],
  regions: RegionReading | undefined,
  pace: Pace,
  context: TaskContext,
): Promise<LocatedLeaf[]> {
  const { folder } = index;
  const arrays = leaves.map(({ stored }) => stored.array);
  const found = await locateChunks(index, arrays, pace, context);
  const partsOf = ({ stored: { array } }: PlannedLeaf, chunks: readonly LocatedChunk[]) =>
    regions === undefined ? [{ array, chunks }] : regions.neededChunks(array, chunks, context);
  return Promise.all(
    leaves.map(async (leaf, place) => {
      const missingChunksAreLost = index.missingChunksAreLost(leaf.stored.array);
      return { leaf, folder, missingChunksAreLost, parts: await partsOf(leaf, found[place] ?? []) };
    }),
  );
}

/** A leaf, and how much of it has arrived. */
interface LeafOnItsWay {
  readonly leaf: PlannedLeaf;
  readonly progress: LeafProgress;
}

function transfersOf({ leaf, parts, ...place }: LocatedLeaf, restore: RestoreProgress): Transfer<LeafOnItsWay>[] {
  const progress = restore.leaf(leafName(leaf), leaf.byteLength);
  let chunksLeft = parts.reduce((count, { chunks }) => count + chunks.length, 0);
  if (chunksLeft === 0) progress.finish();
  const chunkDone = () => {
    chunksLeft -= 1;
    if (chunksLeft === 0) progress.finish();
  };
  return parts.map((part) => ({ ...place, ...part, dtype: leaf.spec.dtype, target: { leaf, progress }, chunkDone }));
}

/** Hands blocks to the sinks, and counts them. */
const writer =
  (sinks: Sinks, regions: RegionReading | undefined): WriteBlocks<LeafOnItsWay> =>
  async (blocks) => {
    const wanted = regions === undefined ? blocks : blocks.flatMap((block) => wantedOf(block, regions));
    await sinks.write(wanted.map(({ target, block }) => ({ target: target.leaf, block })));
    for (const { target, block } of wanted) target.progress.add(block.data.byteLength);
  };

/** Of a region's blocks only what lies in it. */
function wantedOf({ target, block }: TargetBlock<LeafOnItsWay>, { cropBlock }: RegionReading): TargetBlock<LeafOnItsWay>[] {
  const { spec } = target.leaf;
  const wanted = cropBlock(block, spec.shape, dtypes[spec.dtype].itemsize);
  return wanted === undefined ? [] : [{ target, block: wanted }];
}
