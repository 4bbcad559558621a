/** A new device, so that one test cannot disturb another. Errors that nobody catches reach the page, and so fail the test. */
export async function testDevice(requiredLimits: Record<string, number> = {}): Promise<GPUDevice> {
  const adapter = await navigator.gpu.requestAdapter();
  if (adapter === null) throw new Error("the browser has no WebGPU adapter");
  const device = await adapter.requestDevice({ requiredLimits });
  device.addEventListener("uncapturederror", ({ error }) => reportError(new Error(error.message)));
  return device;
}

/** An error's fields as plain data, which can leave the page; undefined where the work succeeded. */
export async function failureOf(work: Promise<unknown> | undefined): Promise<Record<string, unknown> | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    const { name, message, reason, leaf, bytes, limit } = error as Error & Record<string, unknown>;
    return { name, message, reason, leaf, bytes, limit };
  }
}
