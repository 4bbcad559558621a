import { scratchBuffers } from "../../digits/scratchBuffers.js";
import type { Batch } from "../data/batch.js";
import { type StepBuffers, stepBuffers } from "./buffers.js";
import { type Kernel, kernelMaker } from "./kernels.js";
import { stepKernels, type TrainedArrays } from "./stepKernels.js";

/** How far the optimizer goes. */
export interface Pace {
  readonly learningRate: number;
  /** Steps that it has made so far. */
  readonly count: number;
}

/** Trains a network on the GPU. */
export interface Trainer {
  /** Learns from each batch in turn; resolves to the mean loss of each, as it was before its step. */
  learn(batches: readonly Batch[], pace: Pace): Promise<Float32Array>;
  /** Gradients of the last batch. */
  readonly gradients: StepBuffers["gradients"];
  /** Frees what the trainer made, never the arrays that it was given. */
  destroy(): void;
}

/** Makes trainers of a device, which share what is compiled. */
export function trainerMaker(device: GPUDevice): (arrays: TrainedArrays) => Trainer {
  const makeKernel = kernelMaker(device);
  return (arrays) => {
    const { make, destroy } = scratchBuffers(device);
    const buffers = stepBuffers(make);
    const kernels = stepKernels(buffers, arrays).map(makeKernel);
    return {
      gradients: buffers.gradients,
      learn: (batches, pace) => learn(device, buffers, kernels, batches, pace),
      destroy,
    };
  };
}

async function learn(
  device: GPUDevice,
  buffers: StepBuffers,
  kernels: readonly Kernel[],
  batches: readonly Batch[],
  { learningRate, count }: Pace,
): Promise<Float32Array> {
  const answer = device.createBuffer({ size: batches.length * 4, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  try {
    for (const [index, { pixels, labels }] of batches.entries()) {
      if (buffers.values[0] !== undefined) device.queue.writeBuffer(buffers.values[0], 0, pixels);
      device.queue.writeBuffer(buffers.labels, 0, labels);
      device.queue.writeBuffer(buffers.rates, 0, ratesAt(count + index + 1, learningRate));
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      for (const kernel of kernels) kernel(pass);
      pass.end();
      encoder.copyBufferToBuffer(buffers.loss, 0, answer, index * 4, 4);
      device.queue.submit([encoder.finish()]);
    }
    await answer.mapAsync(GPUMapMode.READ);
    return new Float32Array(answer.getMappedRange().slice(0));
  } finally {
    answer.destroy();
  }
}

/** The uniform: the learning rate, and by what the moments are too small so early. */
const ratesAt = (count: number, learningRate: number) => Float32Array.of(learningRate, 1 - 0.9 ** count, 1 - 0.999 ** count);
