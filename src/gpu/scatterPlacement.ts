import type { Block } from "../arrays/spec.js";
import type { Blame } from "./blame.js";
import type { BufferSet } from "./bufferSet.js";
import { bufferUsage, hasUsage } from "./bufferUsage.js";
import type { DeviceWatch } from "./deviceWatch.js";
import type { HeldLeaf } from "./leafBuffers.js";
import { gpuByteLength, usageOf, wholeWords } from "./limits.js";
import { type Placement, writeScopes } from "./placement.js";
import type { Scatter } from "./scatter.js";

/** With the shader, into the buffer itself where shaders may write to it, else by way of another one of its size. */
export class ScatterPlacement implements Placement {
  readonly #watch: DeviceWatch;
  readonly #scatter: Scatter;
  readonly #leaf: HeldLeaf;
  readonly #blame: Blame;
  readonly #target: GPUBuffer;

  /** @param scratch takes the other buffer, which is needed until the upload ends. */
  constructor(watch: DeviceWatch, scatter: Scatter, scratch: BufferSet, leaf: HeldLeaf, blame: Blame) {
    this.#watch = watch;
    this.#scatter = scatter;
    this.#leaf = leaf;
    this.#blame = blame;
    const inPlace = hasUsage(usageOf(leaf), bufferUsage.STORAGE);
    this.#target = inPlace ? leaf.buffer : scratch.make(twinOf(leaf), blame);
    if (inPlace && leaf.into !== undefined) this.#encode((encoder, bytes) => encoder.clearBuffer(leaf.buffer, 0, bytes));
  }

  get longestPiece(): number {
    return this.#scatter.longestBlock;
  }

  place(piece: Block): void {
    this.#scatter.place(this.#target, this.#leaf.spec, piece, this.#blame);
  }

  flush(): void {
    const { buffer } = this.#leaf;
    if (this.#target !== buffer) this.#encode((encoder, bytes) => encoder.copyBufferToBuffer(this.#target, 0, buffer, 0, bytes));
  }

  /** Submits one command over the whole words of the array. */
  #encode(command: (encoder: GPUCommandEncoder, bytes: number) => void): void {
    this.#watch.guard(writeScopes, this.#blame, () => {
      const encoder = this.#watch.device.createCommandEncoder();
      command(encoder, wholeWords(gpuByteLength(this.#leaf.spec)));
      this.#watch.device.queue.submit([encoder.finish()]);
    });
  }
}

const twinOf = ({ leaf, spec }: HeldLeaf): GPUBufferDescriptor => ({
  label: leaf,
  size: wholeWords(gpuByteLength(spec)),
  usage: bufferUsage.STORAGE | bufferUsage.COPY_SRC,
});
