import type { Point, Stroke } from "./strokes.js";

/** Pixels a side of the bitmap in which the data set's digits were normalised. */
export const bitmapSize = 32;

/** The box that a digit fills in it, in pixels; the width is for digits as wide as high, and wider. */
const box = { width: 20, height: 32 };

/** How much more one side may be stretched than the other: a one stays narrow. */
const mostStretch = 1.5;

/** Height, in pixels, of the ends by which the slant is measured. */
const endHeight = 2;

/**
 * Moves a drawing to where the data set has its digits: scaled to the box, upright and centred, in pixels of the bitmap.
 *
 * scikit-learn's digits were made with NIST's form-based handprint recognition system (Garris et al., 1994), which scales each digit to
 * 20 × 32 pixels and then shears it until the leftmost ink of its first and of its last row stand above each other.
 * @param radius half the width of the pen in pixels, for which room is left at the edges.
 */
export function normalised(strokes: readonly Stroke[], radius: number): Stroke[] {
  const upright = sheared(fitted(strokes, radius), radius);
  const { left, width } = bounds(upright);
  const shrink = Math.min(1, (bitmapSize - 2 * radius) / Math.max(width, 1e-6));
  return mapped(upright, ([x, y]) => [bitmapSize / 2 + (x - left - width / 2) * shrink, y]);
}

function fitted(strokes: readonly Stroke[], radius: number): Stroke[] {
  const { left, top, width, height } = bounds(strokes);
  const across = (box.width - 2 * radius) / Math.max(width, 1e-6);
  const down = (box.height - 2 * radius) / Math.max(height, 1e-6);
  const most = Math.min(across, down) * mostStretch;
  const middle = bitmapSize / 2;
  return mapped(strokes, ([x, y]) => [
    middle + (x - left - width / 2) * Math.min(across, most),
    middle + (y - top - height / 2) * Math.min(down, most),
  ]);
}

function sheared(strokes: readonly Stroke[], radius: number): Stroke[] {
  const { top, height } = bounds(strokes);
  const points = strokes.flatMap(denser);
  const leftmost = (y: number) => Math.min(...points.filter((point) => Math.abs(point[1] - y) < endHeight).map(([x]) => x));
  const slant = (leftmost(top) - leftmost(top + height)) / (bitmapSize - 2 * radius);
  return mapped(strokes, ([x, y]) => [x + slant * (y - bitmapSize / 2), y]);
}

/** The same line with a point at least every eighth of each of its parts. */
function denser(stroke: Stroke): Point[] {
  return stroke.flatMap((from, index) => {
    const to = stroke[index + 1] ?? from;
    return Array.from(
      { length: 9 },
      (_, part): Point => [from[0] + ((to[0] - from[0]) * part) / 8, from[1] + ((to[1] - from[1]) * part) / 8],
    );
  });
}

function bounds(strokes: readonly Stroke[]) {
  const points = strokes.flat();
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  return { left, top, width: Math.max(...xs) - left, height: Math.max(...ys) - top };
}

const mapped = (strokes: readonly Stroke[], move: (point: Point) => Point) => strokes.map((stroke) => stroke.map(move));
