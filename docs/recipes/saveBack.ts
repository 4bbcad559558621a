import "@tensorflow/tfjs-backend-webgpu";
import type { WebGPUBackend } from "@tensorflow/tfjs-backend-webgpu";
import * as tf from "@tensorflow/tfjs-core";
import { OrbaxCheckpointStore } from "orbax-webgpu";

/** Saves what an engine has on its GPU: any buffer with COPY_SRC is a leaf, with its shape, dtype and device. */
export async function saveTensor(directory: string, step: number, tensor: tf.Tensor): Promise<string> {
  const { device } = tf.backend() as WebGPUBackend;
  const data = tensor.dataToGPU();
  if (data.buffer === undefined) throw new Error("the tensor is not on the GPU");
  const leaf = { shape: tensor.shape, dtype: "float32", buffer: data.buffer, device } as const;
  await using store = new OrbaxCheckpointStore(directory);
  const folder = await store.save(step, { model: { w: leaf } }, { overwrite: true });
  data.tensorRef.dispose();
  return folder;
}
