import type { GpuArray } from "orbax-webgpu";
import type { MakeBuffer } from "./scratchBuffers.js";

const workgroupSize = 64;

/** One `nnx.Linear` on many rows at once; each invocation makes one number of the result. */
const shader = /* wgsl */ `
struct Sizes { rows: u32, inputs: u32, outputs: u32, relu: u32 }

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> values: array<f32>;        // [rows, inputs]
@group(0) @binding(2) var<storage, read> kernel: array<f32>;        // [inputs, outputs]: the restored buffer itself
@group(0) @binding(3) var<storage, read> bias: array<f32>;          // [outputs]: the restored buffer itself
@group(0) @binding(4) var<storage, read_write> result: array<f32>;  // [rows, outputs]

@compute @workgroup_size(${workgroupSize})
fn linear(@builtin(global_invocation_id) id: vec3u) {
  let row = id.x / sizes.outputs;
  let column = id.x % sizes.outputs;
  if (row >= sizes.rows) { return; }
  var sum = 0.0;
  for (var input = 0u; input < sizes.inputs; input++) {
    sum += values[row * sizes.inputs + input] * kernel[input * sizes.outputs + column];
  }
  sum += bias[column];
  result[id.x] = select(sum, max(sum, 0.0), sizes.relu == 1u);
}`;

/** What a layer is run on; `values` is `[rows, inputs]`. */
interface LinearRun {
  readonly rows: number;
  readonly values: GPUBuffer;
  /** `[inputs, outputs]` */
  readonly kernel: GpuArray<"float32">;
  /** `[outputs]` */
  readonly bias: GpuArray<"float32">;
  readonly relu: boolean;
}

/** Compiles the layer for a device; the function that comes back encodes one run and gives its result, `[rows, outputs]`. */
export function linearPipeline(device: GPUDevice) {
  const module = device.createShaderModule({ label: "linear", code: shader });
  const pipeline = device.createComputePipeline({ label: "linear", layout: "auto", compute: { module } });

  return (encoder: GPUCommandEncoder, { rows, values, kernel, bias, relu }: LinearRun, make: MakeBuffer): GPUBuffer => {
    const [inputs = 0, outputs = 0] = kernel.shape;
    const sizes = make(16, GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST);
    device.queue.writeBuffer(sizes, 0, new Uint32Array([rows, inputs, outputs, relu ? 1 : 0]));
    const result = make(rows * outputs * 4, GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC);
    const entries = [sizes, values, kernel.buffer, bias.buffer, result].map((buffer, binding) => ({ binding, resource: { buffer } }));
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
    pass.dispatchWorkgroups(Math.ceil((rows * outputs) / workgroupSize));
    pass.end();
    return result;
  };
}
