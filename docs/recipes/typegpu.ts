import { type GpuArray, OrbaxCheckpointStore } from "orbax-webgpu";
import tgpu, { d } from "typegpu";

/** TypeGPU takes buffers of others by their schema; its bind groups, shaders and reads work on them. */
export async function biasByTypeGpu(device: GPUDevice, checkpoints: string): Promise<number[]> {
  const checkpoint = await new OrbaxCheckpointStore(checkpoints, { device }).restore(1200);
  const { buffer, shape } = checkpoint.leaf("model", "out/bias/value") as GpuArray<"float32">;
  const root = tgpu.initFromDevice({ device });
  const bias = root.createBuffer(d.arrayOf(d.f32, shape[0] ?? 0), buffer).$usage("storage");
  const values = await bias.read();
  checkpoint.destroy();
  return values;
}
