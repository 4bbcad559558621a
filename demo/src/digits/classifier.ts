import { linearPipeline } from "./linearPipeline.js";
import { type DigitsModel, layerSizes } from "./model.js";
import { scratchBuffers } from "./scratchBuffers.js";

/** Runs the digits network on the GPU. */
export interface Classifier {
  /**
   * Logits of images, `[images, 10]`, row by row.
   * @param pixels `[images, 64]`, row by row, from 0 to 1.
   */
  logits(pixels: Float32Array<ArrayBuffer>): Promise<Float32Array>;
}

/** Prepares a restored network for its device; the buffers that the restore made are bound as they are. */
export function digitsClassifier(device: GPUDevice, model: DigitsModel): Classifier {
  const runLinear = linearPipeline(device);
  const layers = [
    { ...model.hidden1, relu: true },
    { ...model.hidden2, relu: true },
    { ...model.out, relu: false },
  ];
  return {
    async logits(pixels) {
      const rows = pixels.length / layerSizes[0];
      const scratch = scratchBuffers(device);
      try {
        const encoder = device.createCommandEncoder();
        let values = scratch.make(pixels.byteLength, GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST);
        device.queue.writeBuffer(values, 0, pixels);
        for (const { kernel, bias, relu } of layers) {
          values = runLinear(encoder, { rows, values, kernel: kernel.value, bias: bias.value, relu }, scratch.make);
        }
        const answer = scratch.make(values.size, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST);
        encoder.copyBufferToBuffer(values, 0, answer, 0, values.size);
        device.queue.submit([encoder.finish()]);
        await answer.mapAsync(GPUMapMode.READ);
        return new Float32Array(answer.getMappedRange().slice(0));
      } finally {
        scratch.destroy();
      }
    },
  };
}
