import { brightest, imageSize } from "../../drawing/digitImage.js";
import { imageAt, type LabelledImages, pixelsAnImage } from "./images.js";
import { type Loader, take } from "./loader.js";
import { type Key, randomBits, split } from "./threefry.js";

/** Images that the network learns from at once. */
export const batchSize = 128;

/** What a step learns from. */
export interface Batch {
  /** `[128, 64]`, row by row, from 0 to 1. */
  readonly pixels: Float32Array<ArrayBuffer>;
  /** The digit of each row. */
  readonly labels: Uint32Array<ArrayBuffer>;
}

/** Where the training's data stand: what decides all batches that follow. */
export interface DataState {
  readonly rng: Key;
  readonly loader: Loader;
}

/** What is learned from: the bundled images, and those that somebody drew. */
export interface DataSet {
  readonly bundled: LabelledImages;
  readonly drawn: LabelledImages;
}

/** One row of a batch: an image by its index, drawings after the bundled ones, and by how many pixels it is moved. */
export type Row = readonly [image: number, right: number, down: number];

/** Rows of a batch that drawings take: so many for each, but at most a quarter. */
const rowsADrawing = 4;
const mostDrawn = batchSize / 4;

/** The rows of the next batch, and the state after it. */
export function nextRows({ rng, loader }: DataState, bundled: number, drawn: number): { readonly rows: Row[]; readonly next: DataState } {
  const [rest, use] = split(rng);
  const bits = randomBits(use, batchSize);
  const drawnRows = Math.min(mostDrawn, rowsADrawing * drawn);
  const { chosen, loader: after } = take(loader, bundled, batchSize - drawnRows);
  const rows = Array.from(bits, (word, row): Row => [chosen[row] ?? bundled + ((word >>> 16) % drawn), ...moveOf(word)]);
  return { rows, next: { rng: rest, loader: after } };
}

/** Half of the rows are moved by up to a pixel each way, as drawings are never quite in the middle. */
const moveOf = (word: number): [right: number, down: number] =>
  (word & 1) === 1 ? [((word >>> 1) % 3) - 1, ((word >>> 8) % 3) - 1] : [0, 0];

/** The next batch, and the state after it. */
export function nextBatch(state: DataState, { bundled, drawn }: DataSet): { readonly batch: Batch; readonly next: DataState } {
  const { rows, next } = nextRows(state, bundled.count, drawn.count);
  const pixels = new Float32Array(batchSize * pixelsAnImage);
  const labels = new Uint32Array(batchSize);
  rows.forEach(([image, right, down], row) => {
    const [images, index] = image < bundled.count ? [bundled, image] : [drawn, image - bundled.count];
    putMoved(pixels.subarray(row * pixelsAnImage), imageAt(images, index), right, down);
    labels[row] = images.labels[index] ?? 0;
  });
  return { batch: { pixels, labels }, next };
}

/** Puts an image, moved and scaled to 0 to 1, over zeros. */
function putMoved(target: Float32Array, image: Uint8Array, right: number, down: number): void {
  image.forEach((value, pixel) => {
    const column = (pixel % imageSize) + right;
    const row = Math.floor(pixel / imageSize) + down;
    if (column >= 0 && column < imageSize && row >= 0 && row < imageSize) target[row * imageSize + column] = value / brightest;
  });
}
