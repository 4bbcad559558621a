import { expect, test } from "playwright/test";

test("a step of a folder is restored into GPUBuffers", async ({ page }) => {
  await page.goto("/");
  await page.waitForFunction(() => "orbax" in window);
  const bias = await page.evaluate(async () => {
    const adapter = await navigator.gpu.requestAdapter();
    const device = await adapter?.requestDevice();
    if (device === undefined) throw new Error("this browser has no WebGPU");
    // public/checkpoints holds the steps; Vite serves it.
    const store = new window.orbax.OrbaxCheckpointStore(new URL("checkpoints/", location.href), { device });
    const checkpoint = await store.restore(1200);
    const leaf = checkpoint.leaf("model", "out/bias/value");
    if (leaf === null || typeof leaf !== "object" || !("buffer" in leaf)) throw new Error("the bias is not on the GPU");
    const { data } = await leaf.read(); // copies the buffer's bytes back
    checkpoint.destroy();
    return [...(data as Float32Array)];
  });
  expect(bias).toHaveLength(10);
  expect(bias.slice(0, 2)).toEqual([0.05620269849896431, -0.12199415266513824]); // what Python restores, to the last bit
});
