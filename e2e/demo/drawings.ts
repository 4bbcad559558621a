/** A point of the pad, from 0 to 1 to the right and down. */
export type Point = readonly [x: number, y: number];

/** Strokes as a person draws them, by digit. */
export const drawings: readonly { readonly digit: number; readonly strokes: readonly (readonly Point[])[] }[] = [
  { digit: 0, strokes: [around(0.5, 0.5, 0.2, 0.34, -90, 270)] },
  {
    digit: 1,
    strokes: [
      [
        [0.38, 0.32],
        [0.52, 0.15],
        [0.52, 0.85],
      ],
    ],
  },
  { digit: 2, strokes: [[...around(0.5, 0.32, 0.2, 0.18, 180, 395), [0.3, 0.84], [0.74, 0.84]]] },
  { digit: 3, strokes: [[...around(0.47, 0.32, 0.2, 0.17, 200, 450), ...around(0.47, 0.67, 0.23, 0.18, -90, 160)]] },
  {
    digit: 4,
    strokes: [
      [
        [0.52, 0.12],
        [0.28, 0.58],
        [0.78, 0.58],
      ],
      [
        [0.62, 0.4],
        [0.6, 0.88],
      ],
    ],
  },
  {
    digit: 5,
    strokes: [[[0.68, 0.15], [0.36, 0.15], [0.34, 0.44], ...around(0.48, 0.63, 0.22, 0.21, -110, 150)]],
  },
  { digit: 6, strokes: [[[0.6, 0.14], [0.42, 0.4], ...around(0.5, 0.64, 0.18, 0.2, 200, 560)]] },
  {
    digit: 7,
    strokes: [
      [
        [0.25, 0.2],
        [0.75, 0.18],
        [0.45, 0.85],
      ],
      [
        [0.35, 0.5],
        [0.7, 0.5],
      ],
    ],
  },
  { digit: 8, strokes: [eight()] },
  { digit: 9, strokes: [[...around(0.48, 0.34, 0.19, 0.19, 0, -360), [0.67, 0.4], [0.62, 0.86]]] },
];

/** Points on a part of an ellipse; angles in degrees, clockwise from the right. */
function around(x: number, y: number, width: number, height: number, from: number, to: number): Point[] {
  return Array.from({ length: 25 }, (_, index): Point => {
    const angle = ((from + ((to - from) * index) / 24) * Math.PI) / 180;
    return [x + width * Math.cos(angle), y + height * Math.sin(angle)];
  });
}

/** A figure of eight in one line that crosses itself. */
function eight(): Point[] {
  return Array.from({ length: 33 }, (_, index): Point => {
    const angle = (index / 32) * 2 * Math.PI;
    return [0.5 - 0.2 * Math.sin(2 * angle), 0.5 - 0.36 * Math.cos(angle)];
  });
}
