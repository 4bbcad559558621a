import type { BufferLimits } from "orbax-webgpu";

/** Why there is no GPU to use. */
export type GpuProblem = "insecure" | "unsupported" | "no-adapter";

/**
 * A device that can hold buffers of these limits, as far as the adapter has them, or why there is none.
 * @throws what `requestDevice` throws.
 */
export async function requestGpu(required: BufferLimits): Promise<GPUDevice | GpuProblem> {
  // The types take it for granted; browsers without WebGPU, and pages without https, lack it.
  const gpu = (navigator as { readonly gpu?: GPU }).gpu;
  if (gpu === undefined) return window.isSecureContext ? "unsupported" : "insecure";
  const adapter = await gpu.requestAdapter();
  if (adapter === null) return "no-adapter";
  const names = ["maxBufferSize", "maxStorageBufferBindingSize"] as const;
  const requiredLimits = Object.fromEntries(names.map((name) => [name, Math.min(required[name], adapter.limits[name])]));
  return adapter.requestDevice({ requiredLimits });
}

/** What to say, in one sentence, where there is no GPU. */
export const gpuProblems: Readonly<Record<GpuProblem, string>> = {
  insecure: "This page was not loaded securely, and browsers offer WebGPU only over https and on localhost.",
  unsupported: "This browser has no WebGPU.",
  "no-adapter": "This browser has WebGPU, but found no graphics processor that it can use.",
};
