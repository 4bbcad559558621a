import type { ArrayDescription } from "./protocol.js";

/** Looks up the described words in the arrays' buffers, on the GPU; names those that differ. */
export async function wrongWords(
  device: GPUDevice,
  buffers: ReadonlyMap<string, GPUBuffer>,
  arrays: readonly ArrayDescription[],
): Promise<string[]> {
  const expected = arrays.flatMap(({ words }) => words);
  const size = 4 * expected.length;
  const staging = device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  const encoder = device.createCommandEncoder();
  let to = 0;
  for (const { name, indices } of arrays) {
    const buffer = buffers.get(name);
    if (buffer === undefined) throw new Error(`${name} was not brought to the GPU`);
    for (const index of indices) encoder.copyBufferToBuffer(buffer, 4 * index, staging, 4 * to++, 4);
  }
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(GPUMapMode.READ);
  const found = new Uint32Array(staging.getMappedRange().slice(0));
  staging.destroy();
  const places = arrays.flatMap(({ name, indices }) => indices.map((index) => `${name}[${index}]`));
  return places.filter((_, at) => found[at] !== expected[at]);
}
