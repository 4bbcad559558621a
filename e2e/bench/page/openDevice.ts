/** The page's one device. */
export interface BenchDevice {
  readonly device: GPUDevice;
  /** What the browser says of the hardware. */
  readonly adapter: string;
  /** Messages of errors that nobody caught since the last call. */
  takeErrors(): string[];
}

/** A device whose buffers may be as large as the hardware takes. */
export async function openDevice(): Promise<BenchDevice> {
  const adapter = await navigator.gpu?.requestAdapter();
  if (adapter === null || adapter === undefined) throw new Error("the browser has no WebGPU adapter");
  const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
  const device = await adapter.requestDevice({ requiredLimits: { maxBufferSize, maxStorageBufferBindingSize } });
  const errors: string[] = [];
  device.addEventListener("uncapturederror", ({ error }) => errors.push(error.message));
  const { vendor, architecture, description } = adapter.info;
  return {
    device,
    adapter: [vendor, architecture, description].filter((text) => text !== "").join(" "),
    takeErrors: () => errors.splice(0),
  };
}
