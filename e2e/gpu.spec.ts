import { expect, test } from "./page/test.js";

test("random chunkings of random shapes come back byte for byte", async ({ page }) => {
  test.setTimeout(120_000);
  const problems = await page.evaluate(async () => {
    const { randomArray, uploadArrays } = window.internals;
    const adapter = await navigator.gpu.requestAdapter();
    const device = (await adapter?.requestDevice()) as GPUDevice;
    const problems: string[] = [];
    const t = performance.now();
    for (let seed = 0; seed < 30; seed++) {
      const arrays = [1, 2, 4, 8, 16].map((itemsize) => randomArray(seed * 16 + itemsize, itemsize, 1 + ((seed * 7919) % 40000)));
      problems.push(...(await uploadArrays(device, arrays, seed)));
    }
    problems.push(`ms ${performance.now() - t}`);
    return problems;
  });
  expect(problems).toEqual([]);
});
