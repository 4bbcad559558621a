import { type GpuArray, shapeDtypeStruct } from "orbax-webgpu";

/** The digits network: 64 pixels → 128 → 64 → 10 logits, with relu between. */
export const layerSizes = [64, 128, 64, 10] as const;

/** Where the item `model` shall go: each array onto the device, as the float32 that Flax saved. */
export const digitsTemplate = (device: GPUDevice) => ({
  hidden1: linearTemplate(device, layerSizes[0], layerSizes[1]),
  hidden2: linearTemplate(device, layerSizes[1], layerSizes[2]),
  out: linearTemplate(device, layerSizes[2], layerSizes[3]),
});

const linearTemplate = (device: GPUDevice, inputs: number, outputs: number) => ({
  kernel: { value: shapeDtypeStruct([inputs, outputs], "float32", { device }) },
  bias: { value: shapeDtypeStruct([outputs], "float32", { device }) },
});

/** A restored `nnx.Linear`: kernel `[inputs, outputs]` and bias `[outputs]`. */
export interface LinearLayer {
  readonly kernel: { readonly value: GpuArray<"float32"> };
  readonly bias: { readonly value: GpuArray<"float32"> };
}

/** The restored network. */
export interface DigitsModel {
  readonly hidden1: LinearLayer;
  readonly hidden2: LinearLayer;
  readonly out: LinearLayer;
}
