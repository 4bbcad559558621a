import { layerSizes } from "../../digits/model.js";
import type { MakeBuffer } from "../../digits/scratchBuffers.js";
import { batchSize } from "../data/batch.js";

/** The layers, in the order in which values pass through them. */
export const layerNames = ["hidden1", "hidden2", "out"] as const;

export type LayerName = (typeof layerNames)[number];

/** Gradients of a layer's arrays, with their shapes. */
export interface LayerGradients {
  readonly kernel: GPUBuffer;
  readonly bias: GPUBuffer;
}

/** What a step computes with, beside the trained arrays. */
export interface StepBuffers {
  /** `[128]` digits. */
  readonly labels: GPUBuffer;
  /** The pixels, and then each layer's result: `[128, 64]`, `[128, 128]`, `[128, 64]`, `[128, 10]`. */
  readonly values: readonly GPUBuffer[];
  /** Gradients by `values`, of which there is none by the pixels. */
  readonly ofValues: readonly (GPUBuffer | undefined)[];
  readonly gradients: Readonly<Record<LayerName, LayerGradients>>;
  /** `[128]`, a loss each row. */
  readonly losses: GPUBuffer;
  /** Their mean. */
  readonly loss: GPUBuffer;
  /** The uniform of the optimizer's step: three float32. */
  readonly rates: GPUBuffer;
}

/** Bytes of the uniform, rounded up as WGSL does. */
const ratesSize = 16;

/** Makes the buffers of one step. */
export function stepBuffers(make: MakeBuffer): StepBuffers {
  const { STORAGE, COPY_SRC, COPY_DST, UNIFORM } = GPUBufferUsage;
  const floats = (count: number) => make(count * 4, STORAGE | COPY_SRC | COPY_DST);
  const gradientsOf = (layer: number): LayerGradients => {
    const [inputs = 0, outputs = 0] = layerSizes.slice(layer);
    return { kernel: floats(inputs * outputs), bias: floats(outputs) };
  };
  return {
    labels: floats(batchSize),
    values: layerSizes.map((size) => floats(batchSize * size)),
    ofValues: layerSizes.map((size, index) => (index === 0 ? undefined : floats(batchSize * size))),
    gradients: { hidden1: gradientsOf(0), hidden2: gradientsOf(1), out: gradientsOf(2) },
    losses: floats(batchSize),
    loss: floats(1),
    rates: make(ratesSize, UNIFORM | COPY_DST),
  };
}
