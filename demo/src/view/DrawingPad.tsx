import { useRef, useState } from "preact/hooks";
import { type Point, type Stroke, withNewStroke, withPoint } from "../drawing/strokes.js";
import { DigitPixels } from "./DigitPixels.js";
import { useKeyboardPen } from "./useKeyboardPen.js";

/** What is drawn, and how to change it. */
export interface DrawingPadProps {
  readonly strokes: readonly Stroke[];
  /** An image of the data set to show instead of strokes. */
  readonly image: Uint8Array | undefined;
  draw(change: (strokes: readonly Stroke[]) => readonly Stroke[]): void;
}

/** Units of the pad's own coordinates a side. */
const size = 32;

/** Where one draws: with a mouse, a pen, a finger, or the keyboard. */
export function DrawingPad({ strokes, image, draw }: DrawingPadProps) {
  const pad = useRef<HTMLDivElement>(null);
  const [isDrawing, setDrawing] = useState(false);
  const pen = useKeyboardPen(draw);

  const pointOf = ({ clientX, clientY }: MouseEvent): Point => {
    const { left, top, width, height } = pad.current?.getBoundingClientRect() ?? new DOMRect(0, 0, 1, 1);
    return [(clientX - left) / width, (clientY - top) / height];
  };
  const begin = (event: PointerEvent) => {
    if (!event.isPrimary || event.button !== 0) return;
    pad.current?.setPointerCapture(event.pointerId);
    setDrawing(true);
    pen.lift();
    draw((before) => withNewStroke(before, pointOf(event)));
  };
  const move = (event: PointerEvent) => {
    if (!isDrawing || !event.isPrimary) return;
    const points = (event.getCoalescedEvents?.() ?? []).map(pointOf);
    draw((before) => [...points, pointOf(event)].reduce(withPoint, before));
  };
  const end = () => setDrawing(false);

  return (
    <div
      ref={pad}
      class="pad"
      // Arrow keys and the space bar draw here, so a screen reader has to hand them over.
      role="application"
      aria-label="Drawing pad"
      aria-describedby="pad-help"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it is drawn on with the keyboard
      tabIndex={0}
      onPointerDown={begin}
      onPointerMove={move}
      onPointerUp={end}
      onPointerCancel={end}
      {...pen.handlers}
    >
      <svg viewBox={`0 0 ${size} ${size}`} aria-hidden="true" focusable="false">
        {image === undefined ? null : <DigitPixels image={image} size={size} />}
        <g class="ink">
          {strokes.map((stroke, index) => (
            <polyline key={index} points={pathOf(stroke)} />
          ))}
        </g>
        <circle class={pen.isDown ? "pen down" : "pen"} cx={pen.position[0] * size} cy={pen.position[1] * size} r="1.1" />
      </svg>
      <span class="hidden" aria-live="polite">
        {pen.says}
      </span>
    </div>
  );
}

/** A dot is a line to itself, which round ends make visible. */
function pathOf(stroke: Stroke): string {
  const points = stroke.length === 1 ? [...stroke, ...stroke] : stroke;
  return points.map(([x, y]) => `${(x * size).toFixed(2)},${(y * size).toFixed(2)}`).join(" ");
}
