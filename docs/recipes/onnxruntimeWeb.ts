import * as ort from "onnxruntime-web/webgpu";
import { type GpuArray, OrbaxCheckpointStore } from "orbax-webgpu";

/** Runs an ONNX graph whose weights are inputs, on the very buffers that the restore made: nothing is copied. */
export async function logitsByOnnx(device: GPUDevice, checkpoints: string, graph: string, pixels: Float32Array): Promise<Float32Array> {
  const session = await ort.InferenceSession.create(graph, { executionProviders: [{ name: "webgpu", device }] });
  const store = new OrbaxCheckpointStore(checkpoints, { device });
  const checkpoint = await store.restore(1200);
  const feeds: Record<string, ort.Tensor> = { pixels: new ort.Tensor("float32", pixels, [pixels.length / 64, 64]) };
  for (const name of session.inputNames.filter((name) => name !== "pixels")) {
    const { buffer, shape } = checkpoint.leaf("model", name) as GpuArray<"float32">;
    feeds[name] = ort.Tensor.fromGpuBuffer(buffer, { dataType: "float32", dims: shape });
  }
  const { logits } = await session.run(feeds);
  checkpoint.destroy();
  return logits?.data as Float32Array;
}
