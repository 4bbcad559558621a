import { dtypes } from "../../arrays/dtypes.js";
import { loadCast } from "../../arrays/loadCast.js";
import type { Block } from "../../arrays/spec.js";
import type { TaskContext } from "../../tasks/context.js";
import { Pace } from "../../tasks/pace.js";
import type { Piece, StoredPart } from "./decode/parts.js";
import { type ChunkTransfer, type RangeTransfer, type Transfer, wholePart } from "./planJobs.js";

/** Elements of an array that have its new dtype. */
export interface TargetBlock<Target> {
  readonly target: Target;
  readonly block: Block;
}

/** Takes blocks of any arrays; their bytes are the caller's again when it returns, or its promise resolves. */
export type WriteBlocks<Target> = (blocks: readonly TargetBlock<Target>[]) => Promise<void> | void;

/** A chunk on its way, and the bytes of its wanted elements that are still to come. */
export interface ChunkOnItsWay<Target> extends ChunkTransfer<Target> {
  missingBytes: number;
}

/** A part that is decoded, and the chunk that it is of. */
export interface PartOnItsWay<Target> {
  readonly chunk: ChunkOnItsWay<Target>;
  readonly stored: StoredPart;
}

/** Bytes of a part after its cast. */
const wantedLength = ({ decodedLength, storedDtype, dtype }: StoredPart): number =>
  (decodedLength / dtypes[storedDtype].itemsize) * dtypes[dtype].itemsize;

/** A chunk whole, or the run of it that is needed, of which nothing has come yet. */
export function wholeOnItsWay<Target>(range: RangeTransfer<Target>): PartOnItsWay<Target> {
  const stored = wholePart(range);
  return { chunk: { ...range, missingBytes: wantedLength(stored) }, stored };
}

/** Longest piece of a block that is cast at once, in bytes of the wider dtype. */
export const castPieceLength = 1024 * 1024;

/** Hands decoded elements over to their arrays, and notices when a chunk is complete. */
export class Delivery<Target> {
  readonly #write: WriteBlocks<Target>;
  readonly #pace = new Pace();

  constructor(write: WriteBlocks<Target>) {
    this.#write = write;
  }

  /** Hands over the elements of a piece, whatever arrays they are of, in one go; its memory is free when this resolves. */
  async piece(parts: readonly PartOnItsWay<Target>[], { buffer, runs }: Piece, { signal }: TaskContext): Promise<void> {
    signal?.throwIfAborted();
    const chunks: { chunk: ChunkOnItsWay<Target>; byteLength: number }[] = [];
    const blocks: TargetBlock<Target>[] = [];
    for (const { part, offset, start, byteLength } of runs) {
      const found = parts[part];
      if (found === undefined) continue;
      const { chunk, stored } = found;
      const { transfer, located } = chunk;
      const elementOffset = stored.elementOffset + offset / dtypes[transfer.dtype].itemsize;
      const data = new Uint8Array(buffer, start, byteLength);
      blocks.push({
        target: transfer.target,
        block: { origin: located.chunk.origin, shape: transfer.array.chunkShape, elementOffset, data },
      });
      chunks.push({ chunk, byteLength });
    }
    await this.#write(blocks);
    for (const { chunk, byteLength } of chunks) {
      chunk.missingBytes -= byteLength;
      if (chunk.missingBytes === 0) chunk.transfer.chunkDone();
    }
  }

  /** Casts a block where its array gets another dtype, in pieces, and hands it over. */
  async block({ array, dtype, target }: Transfer<Target>, block: Block, { signal }: TaskContext): Promise<void> {
    signal?.throwIfAborted();
    const stored = array.spec.dtype;
    const cast = stored === dtype ? undefined : (await loadCast()).castFrom(stored, dtype);
    if (cast === undefined) return this.#writeRested([{ target, block }]);
    const itemsize = dtypes[stored].itemsize;
    const elements = Math.floor(castPieceLength / Math.max(itemsize, dtypes[dtype].itemsize));
    for (let start = 0; start < block.data.byteLength; start += elements * itemsize) {
      const data = cast(block.data.subarray(start, start + elements * itemsize));
      await this.#writeRested([{ target, block: { ...block, elementOffset: block.elementOffset + start / itemsize, data } }]);
    }
  }

  async #writeRested(blocks: readonly TargetBlock<Target>[]): Promise<void> {
    await this.rest();
    await this.#write(blocks);
  }

  /** Lets others have their turn where it is time: for work that never waits for anything outside, unlike pieces that workers send. */
  async rest(): Promise<void> {
    if (this.#pace.due) await this.#pace.rest();
  }
}
