import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { brightest, digitImage, imageSize } from "./digitImage.js";
import type { Point, Stroke } from "./strokes.js";

const seven: readonly Stroke[] = [
  [
    [0.2, 0.2],
    [0.7, 0.2],
    [0.4, 0.9],
  ],
];

const moved = (strokes: readonly Stroke[], move: (point: Point) => Point) => strokes.map((stroke) => stroke.map(move));
const rowsOf = (image: Uint8Array | undefined) =>
  Array.from({ length: imageSize }, (_, row) => Array.from(image?.subarray(row * imageSize, (row + 1) * imageSize) ?? []));
const inkOf = (image: ArrayLike<number>) => Array.from(image).reduce((sum, value) => sum + value, 0);

it("makes nothing of nothing, and an image of a dot", () => {
  expect(digitImage([])).toBeUndefined();
  expect(inkOf(digitImage([[[0.5, 0.5]]]) ?? [])).toBeGreaterThan(0);
});

it("does not mind where and how large a digit is drawn", () => {
  const small = moved(seven, ([x, y]) => [x / 4 + 0.6, y / 4 + 0.1]);
  expect(digitImage(small)).toEqual(digitImage(seven));
});

it("sets a slanted line upright, as the data set does", () => {
  const slanted: Stroke = [
    [0.8, 0.1],
    [0.2, 0.9],
  ];
  const middles = rowsOf(digitImage([slanted])).map((row) => inkOf(row.map((ink, column) => ink * column)) / inkOf(row));
  expect(Math.max(...middles) - Math.min(...middles)).toBeLessThan(0.75);
});

it("counts at most the 16 pixels of a block, and as much ink as the data set has", () => {
  const image = digitImage(seven) ?? [];
  expect(Math.max(...image)).toBe(brightest);
  expect(inkOf(image)).toBeGreaterThan(300);
  expect(inkOf(image)).toBeLessThan(325);
});

it("is right about how the data set was made: full height, 312 pixels of ink, upright by its leftmost ink", () => {
  const file = JSON.parse(readFileSync("e2e/fixtures/data/digits/test-images.json", "utf8"));
  const pixels = Buffer.from(file.images, "base64");
  const images = Array.from({ length: file.count }, (_, index) => rowsOf(pixels.subarray(index * 64, (index + 1) * 64)));
  const first = (row: readonly number[] = []) => row.findIndex((value) => value > 0);
  expect(images.every((rows) => first(rows[0]) >= 0 && first(rows[7]) >= 0)).toBe(true);
  expect(inkOf(pixels) / images.length).toBeCloseTo(312, -1);
  const upright = images.filter((rows) => first(rows[0]) === first(rows[7]));
  expect(upright.length / images.length).toBeGreaterThan(0.75);
});
