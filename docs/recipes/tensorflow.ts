import "@tensorflow/tfjs-backend-webgpu";
import type { WebGPUBackend } from "@tensorflow/tfjs-backend-webgpu";
import * as tf from "@tensorflow/tfjs-core";
import { type GpuArray, OrbaxCheckpointStore } from "orbax-webgpu";

/** TensorFlow.js has a device of its own: restore onto that, and its tensors take the buffers as they are. */
export async function logitsByTensorFlow(checkpoints: string, pixels: Float32Array): Promise<Float32Array> {
  await tf.setBackend("webgpu");
  const { device } = tf.backend() as WebGPUBackend;
  const store = new OrbaxCheckpointStore(checkpoints, { device });
  const checkpoint = await store.restore(1200);
  const tensorOf = (path: string) => {
    const { buffer, shape } = checkpoint.leaf("model", path) as GpuArray<"float32">;
    return tf.tensor({ buffer, zeroCopy: true }, [...shape], "float32");
  };
  let values: tf.Tensor = tf.tensor2d(pixels, [pixels.length / 64, 64]);
  for (const layer of ["hidden1", "hidden2", "out"]) {
    values = tf.add(tf.matMul(values as tf.Tensor2D, tensorOf(`${layer}/kernel/value`) as tf.Tensor2D), tensorOf(`${layer}/bias/value`));
    if (layer !== "out") values = tf.relu(values);
  }
  const logits = (await values.data()) as Float32Array;
  checkpoint.destroy();
  return logits;
}
