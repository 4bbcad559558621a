import type { Block } from "../arrays/spec.js";
import type { TaskContext } from "../tasks/context.js";
import { blameLargest } from "./blame.js";
import { BufferSet } from "./bufferSet.js";
import { DeviceWatch } from "./deviceWatch.js";
import { type GpuArray, gpuArray } from "./gpuArray.js";
import { LeafBuffers, probeGivenBuffers } from "./leafBuffers.js";
import { LeafUpload, type UploadParts } from "./leafUpload.js";
import { checkGpuLeaves, type GpuLeaf } from "./limits.js";
import { writeScopes } from "./placement.js";
import { Scatter } from "./scatter.js";
import { SendWindow } from "./sendWindow.js";
import { batchesOf, type Piece, type WriteBatch } from "./writeBatches.js";

/** A block of the leaf at `index` of an upload. */
export interface LeafBlock {
  readonly index: number;
  readonly block: Block;
}

/** Arrays on their way into buffers of one device. When anything fails, every buffer that was made is destroyed. */
export interface GpuUpload {
  /**
   * Writes blocks of any leaves together; their data may be reused when this returns, or the promise that it gives resolves, which it
   * gives where the device has yet to take what was written before. Blocks of one array come from chunks of one shape, each element once,
   * in any order; several writes may run at once. Fastest in Chromium: pieces of 4 MiB, and shorter arrays in one piece.
   * @throws DeviceError where the device fails or is lost, and the signal's reason on abort; from the call itself or by the promise.
   */
  write(blocks: readonly LeafBlock[]): Promise<void> | void;
  /** Waits until the device has everything, and gives the arrays in the order of the leaves. Throws as `write` does. */
  finish(): Promise<GpuArray[]>;
  /** Destroys every buffer that the upload made, also after `finish`; never one that was given as `into`. */
  abort(): void;
}

/** What an upload takes beside its leaves. */
export interface UploadContext extends TaskContext {
  /** Most bytes sent and not yet taken by the device, 8 MiB by default. */
  readonly windowBytes?: number | undefined;
}

/** Two of the pieces that Chromium takes fastest, which then reuses their shared memory; a larger window is not faster. */
const defaultWindowBytes = 8 * 1024 * 1024;

/**
 * Checks all leaves. Buffers are made as they are needed: that the device has no memory for one it says then.
 * @throws DeviceError `"limit"` or `"validation"` before a buffer exists.
 */
export async function openUpload(device: GPUDevice, leaves: readonly GpuLeaf[], context: UploadContext = {}): Promise<GpuUpload> {
  context.signal?.throwIfAborted();
  checkGpuLeaves(device, leaves);
  const upload = new Upload(device, leaves, context);
  await upload.open(leaves);
  return upload;
}

class Upload implements GpuUpload {
  readonly #parts: UploadParts;
  readonly #made: BufferSet;
  readonly #buffers: LeafBuffers;
  /** By the leaf's index, those that something was written to. */
  #uploads = new Map<number, LeafUpload>();
  #finished = false;

  constructor(device: GPUDevice, leaves: readonly GpuLeaf[], context: UploadContext) {
    const watch = new DeviceWatch(device, context);
    const scratch = new BufferSet(watch);
    const window = new SendWindow(watch, context.windowBytes ?? defaultWindowBytes);
    this.#parts = { watch, scratch, window, scatter: new Scatter(watch, scratch, window.longestBatch) };
    this.#made = new BufferSet(watch);
    this.#buffers = new LeafBuffers(watch, this.#made, leaves);
  }

  open(leaves: readonly GpuLeaf[]): Promise<void> {
    return this.#orAbort(() => probeGivenBuffers(this.#parts.watch, leaves));
  }

  write(blocks: readonly LeafBlock[]): Promise<void> | void {
    return this.#orAbort(() => {
      this.#parts.watch.throwIfFailed();
      return this.#sendEach(batchesOf(this.#piecesOf(blocks), this.#parts.window.longestBatch));
    });
  }

  finish(): Promise<GpuArray[]> {
    const { watch, window, scratch } = this.#parts;
    return this.#orAbort(async () => {
      for (const upload of this.#uploads.values()) upload.flush();
      const leaves = this.#buffers.all();
      await window.drain({ leaf: "", bytes: 0, doing: "taking the last bytes" });
      await watch.settle();
      scratch.destroy();
      watch.close();
      this.#uploads.clear();
      this.#finished = true;
      return leaves.map(({ spec, into, buffer }) => gpuArray({ spec, device: watch.device, buffer, owned: into === undefined }));
    });
  }

  abort(): void {
    const { watch, scratch } = this.#parts;
    watch.fail(new DOMException("the upload was aborted", "AbortError"));
    watch.close();
    scratch.destroy();
    this.#made.destroy();
  }

  *#piecesOf(blocks: readonly LeafBlock[]): Generator<Piece> {
    for (const { index, block } of blocks) {
      const upload = this.#uploadOf(index);
      for (const piece of upload.piecesOf(block)) yield { upload, block: piece };
    }
  }

  #uploadOf(index: number): LeafUpload {
    const begun = this.#uploads.get(index);
    if (begun !== undefined) return begun;
    const leaf = this.#finished ? undefined : this.#buffers.held(index);
    if (leaf === undefined) throw new RangeError(`the upload has no leaf ${index}, or has finished`);
    const upload = new LeafUpload(this.#parts, leaf);
    this.#uploads.set(index, upload);
    return upload;
  }

  #sendEach(batches: Iterator<WriteBatch>): Promise<void> | void {
    for (let next = batches.next(); next.done !== true; next = batches.next()) {
      const sending = this.#send(next.value);
      if (sending !== undefined) return sending.then(() => this.#sendEach(batches));
    }
  }

  /** One look at the window and one pair of error scopes for all pieces together. */
  #send({ pieces, byteLength }: WriteBatch): Promise<void> | void {
    const { watch, window } = this.#parts;
    const [first, ...others] = pieces;
    const blame = blameLargest([first.upload.blame, ...others.map(({ upload }) => upload.blame)], "written with it");
    const placed = pieces.map(({ upload, block }) => ({ block, placement: upload.placementOf(block) }));
    return window.send(byteLength, blame, () =>
      watch.guard(writeScopes, blame, () => {
        for (const { block, placement } of placed) placement.place(block);
      }),
    );
  }

  #orAbort<Result>(work: () => Result): Result {
    const abort = (error: unknown): never => {
      this.abort();
      throw error;
    };
    try {
      const result = work();
      return result instanceof Promise ? (result.catch(abort) as Result) : result;
    } catch (error) {
      return abort(error);
    }
  }
}
