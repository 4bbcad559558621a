import type { ByteBudget } from "../../tasks/budget.js";
import type { TaskContext } from "../../tasks/context.js";
import { stopTogether } from "../../tasks/stopTogether.js";
import type { Decoding } from "./decode/decoding.js";
import { Delivery, type WriteBlocks } from "./delivery.js";
import { type Job, runWithin } from "./job.js";
import { PartJobs } from "./partJobs.js";
import { type ChunksByPlace, type ChunkTransfer, chunksByPlace, decodesInParts, type Transfer } from "./planJobs.js";

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
  const chunks = chunksByPlace(transfers);
  const { inIndex, inRanges } = chunks;
  const total = inRanges.flatMap(({ ranges }) => ranges).reduce((sum, { length }) => sum + length, 0);
  const decoding = await road.decoding(total);
  const delivery = new Delivery(road.write);
  const inParts = new PartJobs(decoding, delivery, limit, total);
  const isPart = ({ transfer }: ChunkTransfer) => decodesInParts(transfer, decoding.zstd !== undefined);
  const others = othersThan(isPart, chunks);
  const blocks = others === undefined ? [] : (await import("./blockJobs.js")).blockJobs(others, delivery, limit);
  const files = inRanges.map(({ ranges, ...file }) => ({ ...file, ranges: ranges.filter(isPart) }));
  const ranged = await inParts.inFiles(files, context);
  return [...blocks, ...inParts.inIndex(inIndex.filter(isPart)), ...ranged];
}

/** The chunks that do not decode in parts; undefined where there are none. */
function othersThan<Target>(
  isPart: (chunk: ChunkTransfer) => boolean,
  { leftOut, inIndex, inRanges, inFiles }: ChunksByPlace<Target>,
): ChunksByPlace<Target> | undefined {
  const isOther = (chunk: ChunkTransfer) => !isPart(chunk);
  const others = {
    leftOut,
    inIndex: inIndex.filter(isOther),
    inRanges: inRanges
      .map(({ ranges, ...file }) => ({ ...file, ranges: ranges.filter(isOther) }))
      .filter(({ ranges }) => ranges.length > 0),
    inFiles,
  };
  return Object.values(others).some(({ length }) => length > 0) ? others : undefined;
}
