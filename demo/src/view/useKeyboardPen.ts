import { useRef, useState } from "preact/hooks";
import { type Point, type Stroke, withNewStroke, withPoint } from "../drawing/strokes.js";

/** Moves of a key press, in widths of the pad; two arrows held together go askew. */
const step = 1 / 16;

const arrows: Readonly<Record<string, Point>> = {
  ArrowLeft: [-step, 0],
  ArrowRight: [step, 0],
  ArrowUp: [0, -step],
  ArrowDown: [0, step],
};

/** A pen that the keyboard moves (arrows), lowers and lifts (space), and whose drawing it takes back (Backspace) or clears (Delete). */
export function useKeyboardPen(draw: (change: (strokes: readonly Stroke[]) => readonly Stroke[]) => void) {
  const [position, setPosition] = useState<Point>([0.5, 0.5]);
  const [isDown, setDown] = useState(false);
  const [says, setSays] = useState("");
  const held = useRef(new Set<string>());

  const moveBy = ([x, y]: Point) => {
    const next: Point = [within(position[0] + x), within(position[1] + y)];
    setPosition(next);
    if (isDown) draw((before) => withPoint(before, next));
  };
  const lift = () => {
    if (!isDown) return;
    setDown(false);
    setSays("Pen up");
  };
  const lower = () => {
    setDown(true);
    setSays("Pen down");
    draw((before) => withNewStroke(before, position));
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in arrows) {
      held.current.add(event.key);
      moveBy(sum(held.current));
    } else if (event.key === " " || event.key === "Enter") {
      if (event.repeat) return event.preventDefault();
      if (isDown) lift();
      else lower();
    } else if (event.key === "Backspace") {
      lift();
      draw((before) => before.slice(0, -1));
    } else if (event.key === "Delete") {
      lift();
      draw(() => []);
    } else {
      return;
    }
    event.preventDefault();
  };
  const handlers = {
    onKeyDown,
    onKeyUp: ({ key }: KeyboardEvent) => void held.current.delete(key),
    onBlur: () => {
      held.current.clear();
      lift();
    },
  };
  return { position, isDown, says, lift, handlers };
}

const within = (value: number) => Math.min(1 - step, Math.max(step, value));

const sum = (keys: ReadonlySet<string>): Point =>
  Array.from(keys, (key) => arrows[key] ?? [0, 0]).reduce<Point>(([x, y], [dx, dy]) => [x + dx, y + dy], [0, 0]);
