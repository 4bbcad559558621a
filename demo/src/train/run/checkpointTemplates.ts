import { shapeDtypeStruct } from "orbax-webgpu";
import { digitsTemplate } from "../../digits/model.js";

/** What training needs of a step: weights and moments on the device, all else in memory; the optimizer's state is optax.adam's. */
export const trainingTemplates = (device: GPUDevice) => ({
  model: digitsTemplate(device),
  optimizer: [{ count: shapeDtypeStruct([], "int32"), mu: digitsTemplate(device), nu: digitsTemplate(device) }, null] as const,
  rng: { impl: "threefry2x32", data: shapeDtypeStruct([2], "uint32") },
  data_iterator: { epoch: 0, position: 0, seed: 0, source: "", fractions: [0, 0], shuffled: true, last_batch: null } as const,
});
