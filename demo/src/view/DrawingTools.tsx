import { DrawingPad, type DrawingPadProps } from "./DrawingPad.js";

/** The pad, and what takes a drawing back. */
export function DrawingTools({ strokes, image, draw }: DrawingPadProps) {
  const isEmpty = strokes.length === 0 && image === undefined;
  return (
    <div class="drawing">
      <DrawingPad strokes={strokes} image={image} draw={draw} />
      <div class="tools">
        <button type="button" disabled={strokes.length === 0} onClick={() => draw((before) => before.slice(0, -1))}>
          Undo stroke
        </button>
        <button type="button" disabled={isEmpty} onClick={() => draw(() => [])}>
          Clear
        </button>
      </div>
      <p id="pad-help" class="quiet">
        With a mouse, a pen or a finger, or with the keyboard: arrow keys move the pen, space lowers and lifts it, Delete clears.
      </p>
    </div>
  );
}
