import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "./page/test.js";
import { startServer } from "./server/server.mjs";

// The demo's WGSL against JAX, Flax and optax, whose numbers `fixtures/training.py` wrote.

const data = join(import.meta.dirname, "fixtures", "data");
const read = (name: string) => JSON.parse(readFileSync(join(data, "training", name), "utf8"));

const floats = (base64: string) => {
  const bytes = Buffer.from(base64, "base64");
  return Array.from({ length: bytes.byteLength / 4 }, (_, index) => bytes.readFloatLE(index * 4));
};
const norm = (values: readonly number[]) => Math.hypot(...values);

test("gradients of every layer and the losses of 50 steps are those of Flax and optax", async ({ page }) => {
  const jax = read("jax.json");
  const server = await startServer({ root: data });
  const { gradients, losses } = await page.evaluate(([url, options, images]) => window.internals.trainDigits(url, options, images), [
    `${server.url}/digits/checkpoints`,
    { step: jax.step, steps: jax.losses.length, learningRate: jax.learningRate },
    read("images.json"),
  ] as const);
  await server.close();

  expect(Object.keys(gradients)).toEqual(Object.keys(jax.gradients));
  for (const [layer, parts] of Object.entries(gradients)) {
    for (const part of ["kernel", "bias"] as const) {
      const expected = floats(jax.gradients[layer][part]);
      const differences = expected.map((value, index) => value - (parts[part][index] ?? Number.NaN));
      expect(norm(expected), `${layer}/${part}`).toBeGreaterThan(1e-4);
      expect(norm(differences) / norm(expected), `${layer}/${part}`).toBeLessThan(1e-5);
    }
  }
  expect(losses).toHaveLength(50);
  const apart = losses.map((loss, index) => Math.abs(loss - jax.losses[index]));
  expect(Math.max(...apart)).toBeLessThan(1e-3);
});
