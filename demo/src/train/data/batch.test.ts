import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { batchSize, type DataState, nextBatch, nextRows } from "./batch.js";
import { imageAt, noImages, parseImages, withImage, withoutLast } from "./images.js";
import { foldIn, keyOf } from "./threefry.js";

const read = (name: string) => JSON.parse(readFileSync(`e2e/fixtures/data/training/${name}`, "utf8"));
const jax = read("jax.json");
const bundled = parseImages(read("images.json"));

/** Where the bundled step 1200 stands. */
const start: DataState = { rng: foldIn(keyOf(0), 1200), loader: { epoch: 213, position: 1119, seed: 0 } };

it("chooses and moves the images that JAX's random numbers choose and move", () => {
  expect(nextRows(start, bundled.count, 0).rows).toEqual(jax.rows);
  expect(nextRows(start, bundled.count, 3).rows).toEqual(jax.rowsWithDrawings);
});

it("stands where JAX stands after 50 batches, over the end of an epoch", () => {
  let state = start;
  for (let step = 0; step < jax.losses.length; step++) state = nextRows(state, bundled.count, 0).next;
  expect(state).toEqual({ rng: jax.after.rng, loader: { epoch: jax.after.epoch, position: jax.after.position, seed: 0 } });
});

it("shows each image once an epoch", () => {
  let state: DataState = { ...start, loader: { epoch: 5, position: 0, seed: 3 } };
  const shown: number[] = [];
  while (shown.length < bundled.count) {
    const { rows, next } = nextRows(state, bundled.count, 0);
    shown.push(...rows.map(([image]) => image));
    state = next;
  }
  expect(shown.slice(0, bundled.count).sort((a, b) => a - b)).toEqual(Array.from({ length: bundled.count }, (_, index) => index));
});

it("makes pixels from 0 to 1 and labels of the rows, moved over the edge where they are moved", () => {
  const { batch } = nextBatch(start, { bundled, drawn: noImages });
  const { rows } = nextRows(start, bundled.count, 0);
  expect(Array.from(batch.labels)).toEqual(rows.map(([image]) => bundled.labels[image]));
  for (const [row, [image, right, down]] of rows.entries()) {
    const at = (x: number, y: number) => (x < 0 || x > 7 || y < 0 || y > 7 ? 0 : (imageAt(bundled, image)[y * 8 + x] ?? 0) / 16);
    const expected = Array.from({ length: 64 }, (_, pixel) => at((pixel % 8) - right, Math.floor(pixel / 8) - down));
    expect(Array.from(batch.pixels.subarray(row * 64, (row + 1) * 64))).toEqual(expected);
  }
});

it("gives drawings four rows each, and at most a quarter of a batch", () => {
  const image = new Uint8Array(64).fill(16);
  const rowsOf = (count: number) => {
    const drawn = Array.from({ length: count }).reduce<typeof noImages>((images) => withImage(images, image, 7), noImages);
    return nextRows(start, bundled.count, drawn.count).rows.filter(([index]) => index >= bundled.count);
  };
  expect([0, 1, 3, 8, 20].map((count) => rowsOf(count).length)).toEqual([0, 4, 12, batchSize / 4, batchSize / 4]);
  expect(rowsOf(2).every(([index]) => index < bundled.count + 2)).toBe(true);
});

it("takes a drawing in and back out", () => {
  const one = withImage(noImages, new Uint8Array(64).fill(3), 4);
  expect(nextBatch(start, { bundled, drawn: one }).batch.labels.slice(-4)).toEqual(Uint32Array.of(4, 4, 4, 4));
  expect(withoutLast(withImage(one, new Uint8Array(64), 5))).toEqual(one);
});
