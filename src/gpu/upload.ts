import type { Block } from "../arrays/spec.js";
import type { TaskContext } from "../tasks/context.js";
import { BufferSet } from "./bufferSet.js";
import { createLeafBuffers, type HeldLeaf } from "./createLeafBuffers.js";
import { DeviceWatch } from "./deviceWatch.js";
import { type GpuArray, gpuArray } from "./gpuArray.js";
import { LeafUpload, type UploadParts } from "./leafUpload.js";
import { checkGpuLeaves, type GpuLeaf } from "./limits.js";
import { Scatter } from "./scatter.js";
import { SendWindow } from "./sendWindow.js";

/** Arrays on their way into buffers of one device. When anything fails, every buffer that was made is destroyed. */
export interface GpuUpload {
  /**
   * Writes a block of the leaf at `index`; its data may be reused when this resolves. Blocks of one array come from chunks of
   * one shape, each element once, in any order; several writes may run at once.
   * @throws DeviceError where the device fails or is lost, and the signal's reason on abort.
   */
  write(index: number, block: Block): Promise<void>;
  /** Waits until the device has everything, and gives the arrays in the order of the leaves. Throws as `write` does. */
  finish(): Promise<GpuArray[]>;
  /** Destroys every buffer that the upload made, also after `finish`; never one that was given as `into`. */
  abort(): void;
}

/** What an upload takes beside its leaves. */
export interface UploadContext extends TaskContext {
  /** Most bytes sent and not yet taken by the device, 32 MiB by default. */
  readonly windowBytes?: number | undefined;
}

const defaultWindowBytes = 32 * 1024 * 1024;

/**
 * Checks all leaves, then makes all buffers, so that a device that cannot hold them says so before anything is read.
 * @throws DeviceError `"limit"` or `"validation"` before a buffer exists, `"out-of-memory"` or `"lost"` after all were destroyed.
 */
export async function openUpload(device: GPUDevice, leaves: readonly GpuLeaf[], context: UploadContext = {}): Promise<GpuUpload> {
  context.signal?.throwIfAborted();
  checkGpuLeaves(device, leaves);
  const upload = new Upload(device, context);
  await upload.open(leaves);
  return upload;
}

class Upload implements GpuUpload {
  readonly #parts: UploadParts;
  readonly #made: BufferSet;
  #leaves: readonly HeldLeaf[] = [];
  #uploads: readonly LeafUpload[] = [];

  constructor(device: GPUDevice, context: UploadContext) {
    const watch = new DeviceWatch(device, context);
    const scratch = new BufferSet(watch);
    const window = new SendWindow(watch, context.windowBytes ?? defaultWindowBytes);
    this.#parts = { watch, scratch, window, scatter: new Scatter(watch, scratch) };
    this.#made = new BufferSet(watch);
  }

  open(leaves: readonly GpuLeaf[]): Promise<void> {
    return this.#orAbort(async () => {
      this.#leaves = await createLeafBuffers(this.#parts.watch, this.#made, leaves);
      this.#uploads = this.#leaves.map((leaf) => new LeafUpload(this.#parts, leaf));
    });
  }

  write(index: number, block: Block): Promise<void> {
    return this.#orAbort(async () => {
      this.#parts.watch.throwIfFailed();
      const upload = this.#uploads[index];
      if (upload === undefined) throw new RangeError(`the upload has no leaf ${index}, or has finished`);
      await upload.place(block);
    });
  }

  finish(): Promise<GpuArray[]> {
    const { watch, window, scratch } = this.#parts;
    return this.#orAbort(async () => {
      for (const upload of this.#uploads) upload.flush();
      await window.drain({ leaf: "", bytes: 0, doing: "taking the last bytes" });
      await watch.settle();
      scratch.destroy();
      watch.close();
      this.#uploads = [];
      return this.#leaves.map(({ spec, into, buffer }) => gpuArray({ spec, device: watch.device, buffer, owned: into === undefined }));
    });
  }

  abort(): void {
    const { watch, scratch } = this.#parts;
    watch.fail(new DOMException("the upload was aborted", "AbortError"));
    watch.close();
    scratch.destroy();
    this.#made.destroy();
  }

  async #orAbort<Value>(work: () => Promise<Value>): Promise<Value> {
    try {
      return await work();
    } catch (error) {
      this.abort();
      throw error;
    }
  }
}
