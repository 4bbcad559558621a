/** A point of a drawing: x to the right, y down, both from 0 to 1 inside the pad. */
export type Point = readonly [x: number, y: number];

/** What the pen drew between two lifts; a dot is a stroke of one point. */
export type Stroke = readonly Point[];

/** Points closer together than this, in widths of the pad, add nothing to a drawing. */
const closest = 1 / 64;

/** Begins a stroke at a point. */
export const withNewStroke = (strokes: readonly Stroke[], point: Point): Stroke[] => [...strokes, [inside(point)]];

/** Draws on to a point; the strokes themselves where the pen has hardly moved, or has not begun. */
export function withPoint(strokes: readonly Stroke[], point: Point): readonly Stroke[] {
  const current = strokes.at(-1);
  const last = current?.at(-1);
  const next = inside(point);
  if (current === undefined || last === undefined || Math.hypot(next[0] - last[0], next[1] - last[1]) < closest) return strokes;
  return [...strokes.slice(0, -1), [...current, next]];
}

const inside = ([x, y]: Point): Point => [clamped(x), clamped(y)];

const clamped = (value: number) => Math.min(1, Math.max(0, value));
