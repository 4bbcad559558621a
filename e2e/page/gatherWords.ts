const shader = /* wgsl */ `
@group(0) @binding(0) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read> indices: array<u32>;
@group(0) @binding(2) var<storage, read_write> result: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&indices)) { result[id.x] = source[indices[id.x]]; }
}`;

/** Has the GPU look up 32-bit words of a buffer by their indices, as a shader that uses the array would. */
export async function gatherWords(device: GPUDevice, source: GPUBuffer, indices: Uint32Array<ArrayBuffer>): Promise<Uint32Array> {
  const size = indices.byteLength;
  const make = (usage: number) => device.createBuffer({ size, usage });
  const where = make(GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST);
  const result = make(GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC);
  const staging = make(GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST);
  device.queue.writeBuffer(where, 0, indices);
  const pipeline = device.createComputePipeline({ layout: "auto", compute: { module: device.createShaderModule({ code: shader }) } });
  const entries = [source, where, result].map((buffer, binding) => ({ binding, resource: { buffer } }));
  const group = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, group);
  pass.dispatchWorkgroups(Math.ceil(indices.length / 64));
  pass.end();
  encoder.copyBufferToBuffer(result, 0, staging, 0, size);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(GPUMapMode.READ);
  const words = new Uint32Array(staging.getMappedRange().slice(0));
  for (const buffer of [where, result, staging]) buffer.destroy();
  return words;
}
