// Bundled in a project that has the packed package and the recipes' packages; the recipes stand beside this file there.
import "@tensorflow/tfjs-backend-webgpu";
import * as tf from "@tensorflow/tfjs-core";
import wasm from "onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm?url";
import * as ort from "onnxruntime-web/webgpu";
import { OrbaxCheckpointStore } from "orbax-webgpu";
import graph from "./recipes/digits.onnx?url";
import { logitsByJaxJs } from "./recipes/jaxJs.js";
import { logitsByOnnx } from "./recipes/onnxruntimeWeb.js";
import { saveTensor } from "./recipes/saveBack.js";
import { logitsByTensorFlow } from "./recipes/tensorflow.js";
import { biasByTypeGpu } from "./recipes/typegpu.js";

ort.env.wasm.wasmPaths = { wasm };
ort.env.wasm.numThreads = 1;

async function testDevice(): Promise<GPUDevice> {
  const adapter = await navigator.gpu.requestAdapter();
  if (adapter === null) throw new Error("this browser has no WebGPU");
  return adapter.requestDevice();
}

/** Saves a tensor of TensorFlow.js, and restores it into memory. */
async function savedByTensorFlow(values: readonly number[]): Promise<number[]> {
  await tf.setBackend("webgpu");
  tf.env().set("WEBGPU_CPU_FORWARD", false); // small tensors would be computed on the CPU
  await saveTensor("recipes/saved", 1, tf.mul(tf.tensor1d([...values]), 2));
  const { items } = await new OrbaxCheckpointStore("recipes/saved").restore(1);
  return [...(items.model as unknown as { w: { data: Float32Array } }).w.data];
}

const recipes = {
  onnxruntimeWeb: async (url: string, pixels: number[]) => logitsByOnnx(await testDevice(), url, graph, new Float32Array(pixels)),
  tensorflow: (url: string, pixels: number[]) => logitsByTensorFlow(url, new Float32Array(pixels)),
  jaxJs: (url: string, pixels: number[]) => logitsByJaxJs(url, new Float32Array(pixels)),
  typegpu: async (url: string) => biasByTypeGpu(await testDevice(), url),
  saveBack: async (_: string, values: number[]) => savedByTensorFlow(values),
};

Object.assign(window, { recipes });
