import { workgroupSize } from "./shaders.js";

/** A compute shader's entry point with its sizes and buffers, ready to run. */
export type Kernel = (pass: GPUComputePassEncoder) => void;

/** What a kernel runs on. */
export interface KernelParts {
  readonly shader: string;
  readonly entryPoint: string;
  /** The shader's `override` constants. */
  readonly constants: Readonly<Record<string, number>>;
  /** Buffers by their bindings; `undefined` where the entry point has none. */
  readonly buffers: readonly (GPUBuffer | undefined)[];
  readonly invocations: number;
}

/** Makes kernels of a device; those of the same shader and sizes share a pipeline. */
export function kernelMaker(device: GPUDevice): (parts: KernelParts) => Kernel {
  const modules = new Map<string, GPUShaderModule>();
  const pipelines = new Map<string, GPUComputePipeline>();

  const pipelineOf = ({ shader, entryPoint, constants }: KernelParts) =>
    entryOf(pipelines, JSON.stringify([entryPoint, constants]), () => {
      const module = entryOf(modules, shader, () => device.createShaderModule({ label: entryPoint, code: shader }));
      return device.createComputePipeline({ label: entryPoint, layout: "auto", compute: { module, entryPoint, constants } });
    });

  return (parts) => {
    const pipeline = pipelineOf(parts);
    const entries = parts.buffers.flatMap((buffer, binding) => (buffer === undefined ? [] : [{ binding, resource: { buffer } }]));
    const bindGroup = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
    return (pass) => {
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, bindGroup);
      pass.dispatchWorkgroups(Math.ceil(parts.invocations / workgroupSize));
    };
  };
}

function entryOf<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}
