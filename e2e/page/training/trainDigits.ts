import { OrbaxCheckpointStore } from "orbax-webgpu";
import { type DataState, nextBatch } from "../../../demo/src/train/data/batch.js";
import { noImages, parseImages } from "../../../demo/src/train/data/images.js";
import { layerNames } from "../../../demo/src/train/gpu/buffers.js";
import { trainerMaker } from "../../../demo/src/train/gpu/trainer.js";
import { trainingTemplates } from "../../../demo/src/train/run/checkpointTemplates.js";
import { readBack } from "../../../src/gpu/readBack.js";
import { testDevice } from "../testDevice.js";

/** What the demo's shaders make of a checkpoint of the digits. */
export interface Trained {
  /** Of the first batch, by layer and part. */
  readonly gradients: Readonly<Record<string, { readonly kernel: number[]; readonly bias: number[] }>>;
  /** Of every batch. */
  readonly losses: number[];
}

/** Trains on from a step, on the bundled images alone. */
export async function trainDigits(
  url: string,
  { step, steps, learningRate }: { readonly step: number; readonly steps: number; readonly learningRate: number },
  images: Parameters<typeof parseImages>[0],
): Promise<Trained> {
  const device = await testDevice();
  const checkpoint = await new OrbaxCheckpointStore(url).restore(step, { templates: trainingTemplates(device) });
  const { model, optimizer, rng, data_iterator: loader } = checkpoint.items;
  const [{ count, mu, nu }] = optimizer;
  const trainer = trainerMaker(device)({ model, mu, nu });
  const [high = 0, low = 0] = rng.data.data;
  let data: DataState = { rng: [high, low], loader };
  const bundled = parseImages(images);
  const learn = async (steps: number, made: number) => {
    const batches = Array.from({ length: steps }, () => {
      const { batch, next } = nextBatch(data, { bundled, drawn: noImages });
      data = next;
      return batch;
    });
    return trainer.learn(batches, { learningRate, count: (count.data[0] ?? 0) + made });
  };
  const first = await learn(1, 0);
  const floats = async (buffer: GPUBuffer) => Array.from(new Float32Array((await readBack(device, buffer, buffer.size)).buffer));
  const gradients: Record<string, { kernel: number[]; bias: number[] }> = {};
  for (const name of layerNames) {
    const { kernel, bias } = trainer.gradients[name];
    gradients[name] = { kernel: await floats(kernel), bias: await floats(bias) };
  }
  const losses = [...first, ...(await learn(steps - 1, 1))];
  trainer.destroy();
  checkpoint.destroy();
  device.destroy();
  return { gradients, losses };
}
