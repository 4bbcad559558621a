import { bitmapSize, normalised } from "./normalise.js";
import type { Point, Stroke } from "./strokes.js";

/** Pixels a side of an image of the data set. */
export const imageSize = 8;

/** Brightest pixel: all 16 pixels of the bitmap's block are ink. */
export const brightest = 16;

/** Ink that the data set's digits have on average, in pixels of the bitmap: its makers thinned and thickened them to that. */
const typicalInk = 312;

/** Widths of the pen, in pixels, between which the ink is sought. */
const thinnest = 0.7;
const thickest = 6;

/**
 * An image of the data set's kind made of a drawing: 8 × 8 pixels, row by row, each the number of ink pixels (0 to 16) in a block of
 * 4 × 4 of the normalised bitmap. Undefined where nothing is drawn.
 */
export function digitImage(strokes: readonly Stroke[]): Uint8Array | undefined {
  if (strokes.length === 0) return undefined;
  const { distances, radius } = typicalPen(strokes);
  const image = new Uint8Array(imageSize * imageSize);
  const block = bitmapSize / imageSize;
  distances.forEach((distance, pixel) => {
    if (distance > radius) return;
    const row = Math.floor(Math.floor(pixel / bitmapSize) / block);
    const column = Math.floor((pixel % bitmapSize) / block);
    image[row * imageSize + column] = (image[row * imageSize + column] ?? 0) + 1;
  });
  return image;
}

/** Widens or narrows the pen, and with it the room at the edges, until the digit has as much ink as the data set's. */
function typicalPen(strokes: readonly Stroke[]): { distances: Float32Array; radius: number } {
  let radius = 2;
  let distances = inkDistances(normalised(strokes, radius));
  for (let round = 0; round < 8; round++) {
    const wanted = distances.slice().sort()[typicalInk - 1] ?? radius;
    const next = Math.min(thickest, Math.max(thinnest, (wanted + radius) / 2));
    const settled = Math.abs(next - radius) < 0.02;
    radius = next;
    if (settled) break;
    distances = inkDistances(normalised(strokes, radius));
  }
  return { distances, radius };
}

/** For each pixel of the bitmap, row by row, how far its middle is from the line; infinite beyond the widest pen. */
function inkDistances(strokes: readonly Stroke[]): Float32Array {
  const squares = new Float32Array(bitmapSize * bitmapSize).fill(Number.POSITIVE_INFINITY);
  for (const stroke of strokes) {
    stroke.forEach((from, index) => {
      keepNearer(squares, from, stroke[index + 1] ?? from);
    });
  }
  return squares.map(Math.sqrt);
}

/** Takes a part of a line into the squared distances, of pixels that the widest pen would reach. */
function keepNearer(squares: Float32Array, [fromX, fromY]: Point, [toX, toY]: Point): void {
  const alongX = toX - fromX;
  const alongY = toY - fromY;
  const perLength = 1 / Math.max(alongX * alongX + alongY * alongY, 1e-12);
  const [left, right] = reached(fromX, toX);
  const [top, bottom] = reached(fromY, toY);
  for (let row = top; row < bottom; row++) {
    for (let column = left; column < right; column++) {
      const x = column + 0.5 - fromX;
      const y = row + 0.5 - fromY;
      const part = Math.min(1, Math.max(0, (x * alongX + y * alongY) * perLength));
      const square = (x - part * alongX) ** 2 + (y - part * alongY) ** 2;
      const pixel = row * bitmapSize + column;
      if (square < (squares[pixel] ?? 0)) squares[pixel] = square;
    }
  }
}

/** The rows or columns that the widest pen reaches between two places. */
const reached = (from: number, to: number): [first: number, end: number] => [
  Math.max(0, Math.floor(Math.min(from, to) - thickest)),
  Math.min(bitmapSize, Math.ceil(Math.max(from, to) + thickest)),
];
