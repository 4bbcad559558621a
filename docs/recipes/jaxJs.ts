import { defaultDevice, getWebGPUDevice, init, nn, numpy as np } from "@jax-js/jax";
import { OrbaxCheckpointStore, shapeDtypeStruct, type Template } from "orbax-webgpu";

const layers = { hidden1: [64, 128], hidden2: [128, 64], out: [64, 10] } as const;

/** jax-js makes its own buffers: make arrays of the right shape, and restore into what they stand on. */
export async function logitsByJaxJs(checkpoints: string, pixels: Float32Array): Promise<Float32Array> {
  await init("webgpu");
  defaultDevice("webgpu");
  const device = getWebGPUDevice();
  const arrays = new Map<string, { kernel: np.Array; bias: np.Array }>();
  const model: Record<string, Template> = {};
  for (const [layer, [from, to]] of Object.entries(layers)) {
    const kernel = np.array(new Float32Array(from * to), { shape: [from, to] });
    const bias = np.array(new Float32Array(to), { shape: [to] });
    arrays.set(layer, { kernel, bias });
    model[layer] = {
      kernel: { value: shapeDtypeStruct([from, to], "float32", { device, into: await kernel.ref.gpuBuffer() }) },
      bias: { value: shapeDtypeStruct([to], "float32", { device, into: await bias.ref.gpuBuffer() }) },
    };
  }
  await new OrbaxCheckpointStore(checkpoints).restore(1200, { templates: { model } });
  let values = np.array(pixels, { shape: [pixels.length / 64, 64] });
  for (const [layer, { kernel, bias }] of arrays) {
    values = np.add(np.matmul(values, kernel), bias);
    if (layer !== "out") values = nn.relu(values);
  }
  return (await values.data()) as Float32Array;
}
