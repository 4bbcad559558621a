import { type DigitsModel, layerSizes } from "../../digits/model.js";
import { batchSize } from "../data/batch.js";
import { layerNames, type StepBuffers } from "./buffers.js";
import type { KernelParts } from "./kernels.js";
import { adamShader, backwardShader, forwardShader, lossShader } from "./shaders.js";

/** What training changes: the weights and optax.adam's two moments, in the buffers that a restore made. */
export interface TrainedArrays {
  readonly model: DigitsModel;
  readonly mu: DigitsModel;
  readonly nu: DigitsModel;
}

/** Everything that one training step runs, in order. */
export const stepKernels = (buffers: StepBuffers, arrays: TrainedArrays): KernelParts[] => [
  ...layerNames.map((_, layer) => forward(buffers, arrays.model, layer)),
  ...loss(buffers),
  ...[...layerNames.keys()].reverse().flatMap((layer) => backward(buffers, arrays.model, layer)),
  ...layerNames.flatMap((name) => (["kernel", "bias"] as const).map((part) => adam(buffers, arrays, name, part))),
];

const rows = batchSize;

const sizesOf = (layer: number) => ({ inputs: layerSizes[layer] ?? 0, outputs: layerSizes[layer + 1] ?? 0 });

function arraysOf(model: DigitsModel, layer: number): { readonly kernel: GPUBuffer; readonly bias: GPUBuffer } {
  const { kernel, bias } = model[layerNames[layer] ?? "out"];
  return { kernel: kernel.value.buffer, bias: bias.value.buffer };
}

function forward({ values }: StepBuffers, model: DigitsModel, layer: number): KernelParts {
  const { kernel, bias } = arraysOf(model, layer);
  const sizes = sizesOf(layer);
  const relu = layer < layerNames.length - 1 ? 1 : 0;
  const bound = [values[layer], kernel, bias, values[layer + 1]];
  const constants = { rows, ...sizes, relu };
  return { shader: forwardShader, entryPoint: "forward", constants, buffers: bound, invocations: rows * sizes.outputs };
}

function loss({ values, labels, ofValues, losses, loss }: StepBuffers): KernelParts[] {
  const constants = { rows, classes: layerSizes[3] };
  const common = { shader: lossShader, constants };
  return [
    { ...common, entryPoint: "crossEntropy", buffers: [values[3], labels, ofValues[3], losses], invocations: rows },
    { ...common, entryPoint: "mean", constants: { rows }, buffers: [undefined, undefined, undefined, losses, loss], invocations: 1 },
  ];
}

function backward({ values, ofValues, gradients }: StepBuffers, model: DigitsModel, layer: number): KernelParts[] {
  const sizes = sizesOf(layer);
  const { inputs, outputs } = sizes;
  const common = { shader: backwardShader, constants: { rows, ...sizes } };
  const ofLayer = gradients[layerNames[layer] ?? "out"];
  const [ofResult, below] = [ofValues[layer + 1], ofValues[layer]];
  const kernel = [ofResult, values[layer], undefined, ofLayer.kernel];
  const bias = [ofResult, undefined, undefined, undefined, ofLayer.bias];
  const belowBound = [ofResult, values[layer], arraysOf(model, layer).kernel, undefined, undefined, below];
  return [
    { ...common, entryPoint: "kernelGradient", buffers: kernel, invocations: inputs * outputs },
    { ...common, entryPoint: "biasGradient", constants: { rows, outputs }, buffers: bias, invocations: outputs },
    ...(below === undefined ? [] : [{ ...common, entryPoint: "valuesGradient", buffers: belowBound, invocations: rows * inputs }]),
  ];
}

function adam(
  buffers: StepBuffers,
  { model, mu, nu }: TrainedArrays,
  name: (typeof layerNames)[number],
  part: "kernel" | "bias",
): KernelParts {
  const trained = [model, mu, nu].map((tree) => tree[name][part].value);
  const size = trained[0]?.shape.reduce((product, length) => product * length, 1) ?? 0;
  const bound = [buffers.rates, buffers.gradients[name][part], ...trained.map(({ buffer }) => buffer)];
  return { shader: adamShader, entryPoint: "adam", constants: { size }, buffers: bound, invocations: size };
}
