import type { ByteBudget } from "../../tasks/budget.js";
import type { TaskContext } from "../../tasks/context.js";
import { stopTogether } from "../../tasks/stopTogether.js";
import { BlockJobs } from "./blockJobs.js";
import type { Decoding } from "./decode/decoding.js";
import { Delivery, type WriteBlocks } from "./delivery.js";
import { type Job, runWithin } from "./job.js";
import { PartJobs } from "./partJobs.js";
import { type ChunkTransfer, chunksByPlace, decodesInParts, type Transfer } from "./planJobs.js";

export type { Transfer } from "./planJobs.js";

/** What the bytes of a restore pass through. */
export interface Road<Target> {
  /** Most bytes that are read and decoded at once. */
  readonly budget: ByteBudget;
  /** What decodes so many stored bytes. */
  readonly decoding: (byteLength: number) => Promise<Decoding>;
  readonly write: WriteBlocks<Target>;
}

/**
 * Reads, decodes, casts and hands over all blocks of all arrays. Neighbouring chunks are read by one request, whose bytes are decoded as they
 * come. The bytes held at once stay within the budget. The first failure stops everything else.
 */
export async function moveBytes<Target>(transfers: readonly Transfer<Target>[], road: Road<Target>, context: TaskContext): Promise<void> {
  await stopTogether(async (together) => {
    const jobs = await planJobs(transfers, road, together);
    await Promise.all(jobs.map((job) => runWithin(road.budget, job, together)));
  }, context);
}

async function planJobs<Target>(transfers: readonly Transfer<Target>[], road: Road<Target>, context: TaskContext): Promise<Job[]> {
  const { limit } = road.budget;
  const { leftOut, inIndex, inRanges, inFiles } = chunksByPlace(transfers);
  const total = inRanges.flatMap(({ ranges }) => ranges).reduce((sum, { length }) => sum + length, 0);
  const decoding = await road.decoding(total);
  const delivery = new Delivery(road.write);
  const inParts = new PartJobs(decoding, delivery, limit, total);
  const asBlocks = new BlockJobs(delivery, limit);
  const isPart = ({ transfer }: ChunkTransfer) => decodesInParts(transfer, decoding.zstd !== undefined);
  const isBlocks = (chunk: ChunkTransfer) => !isPart(chunk);
  const ranged = await Promise.all(
    inRanges.map(async ({ storage, path, ranges }) => [
      ...(await inParts.inRanges(storage, path, ranges.filter(isPart), context)),
      ...asBlocks.inRanges(storage, path, ranges.filter(isBlocks)),
    ]),
  );
  return [
    asBlocks.leftOut(leftOut),
    ...inParts.inIndex(inIndex.filter(isPart)),
    asBlocks.inIndex(inIndex.filter(isBlocks)),
    ...ranged.flat(),
    ...inFiles.map((chunk) => asBlocks.inFile(chunk)),
  ];
}
