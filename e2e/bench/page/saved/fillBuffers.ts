import type { SetDescription } from "../protocol.js";

const workgroupSize = 256;
/** Bytes that a dispatch fills: its workgroups are fewer than WebGPU's limit, and its binding is smaller. */
const dispatchBytes = 32 * 2 ** 20;

/** The words of `savedWord`. */
const code = `
struct Part { array: u32, first: u32 }
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@group(0) @binding(1) var<uniform> part: Part;
@compute @workgroup_size(${workgroupSize})
fn fill(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= arrayLength(&words)) { return; }
  var x = (part.first + id.x) ^ ((part.array + 1u) * 0x9e3779b9u);
  x = (x ^ (x >> 16u)) * 0x7feb352du;
  x = (x ^ (x >> 15u)) * 0x846ca68bu;
  words[id.x] = (x ^ (x >> 16u)) & 0xbfffffffu;
}`;

/** Makes the arrays of a set on the GPU itself, so that the page's process never holds their bytes. */
export async function fillBuffers(device: GPUDevice, { arrays }: SetDescription): Promise<Map<string, GPUBuffer>> {
  const module = device.createShaderModule({ code });
  const pipeline = await device.createComputePipelineAsync({ layout: "auto", compute: { module, entryPoint: "fill" } });
  const buffers = new Map<string, GPUBuffer>();
  for (const [at, { name, byteLength }] of arrays.entries()) {
    const buffer = device.createBuffer({ size: byteLength, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC });
    for (let offset = 0; offset < byteLength; offset += dispatchBytes)
      fillPart(device, pipeline, at, { buffer, offset, size: Math.min(dispatchBytes, byteLength - offset) });
    buffers.set(name, buffer);
  }
  await device.queue.onSubmittedWorkDone();
  return buffers;
}

function fillPart(device: GPUDevice, pipeline: GPUComputePipeline, array: number, resource: Required<GPUBufferBinding>): void {
  const part = device.createBuffer({ size: 8, usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST });
  device.queue.writeBuffer(part, 0, Uint32Array.of(array, resource.offset / 4));
  const layout = pipeline.getBindGroupLayout(0);
  const entries = [
    { binding: 0, resource },
    { binding: 1, resource: { buffer: part } },
  ];
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, device.createBindGroup({ layout, entries }));
  pass.dispatchWorkgroups(Math.ceil(resource.size / 4 / workgroupSize));
  pass.end();
  device.queue.submit([encoder.finish()]);
  part.destroy();
}
