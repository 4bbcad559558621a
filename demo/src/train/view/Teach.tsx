import { useMemo, useState } from "preact/hooks";
import { usePrediction } from "../../digits/usePrediction.js";
import { digitImage } from "../../drawing/digitImage.js";
import type { Stroke } from "../../drawing/strokes.js";
import { Answer } from "../../view/Answer.js";
import { DrawingTools } from "../../view/DrawingTools.js";
import { noImages } from "../data/images.js";
import type { Training } from "../session/useTraining.js";
import { Drawings } from "./Drawings.js";

/** Somebody draws a digit, sees how the network reads it, and says which it is. */
export function Teach({ training: { phase, run, classifier, session } }: { readonly training: Training }) {
  const [strokes, draw] = useState<readonly Stroke[]>([]);
  const [added, setAdded] = useState("");
  const image = useMemo(() => digitImage(strokes), [strokes]);
  const answer = usePrediction(classifier, image);
  if (phase.kind !== "ready" && phase.kind !== "opening") return null;
  const add = (digit: number) => {
    if (image === undefined) return setAdded("Draw a digit first.");
    if (phase.kind === "opening") return setAdded("The network is not there yet.");
    session?.addDrawing(image, digit);
    setAdded(`A ${digit} was added. The next batch has it.`);
    draw([]);
  };
  return (
    <section class="card" aria-labelledby="teach-title">
      <div class="strip">
        <h2 id="teach-title">Teach it your digits</h2>
      </div>
      <div class="bench">
        <DrawingTools strokes={strokes} image={undefined} draw={draw} />
        <Answer probabilities={answer} otherwise="" />
        <div class="teach">
          <fieldset class="labels">
            <legend>Which digit is it?</legend>
            {Array.from({ length: 10 }, (_, digit) => (
              <button
                key={digit}
                type="button"
                aria-disabled={image === undefined}
                aria-label={`It is a ${digit}`}
                onClick={() => add(digit)}
              >
                {digit}
              </button>
            ))}
          </fieldset>
          <p class="quiet" role="status">
            {added}
          </p>
          <Drawings drawn={run?.drawn ?? noImages} drop={() => session?.dropDrawing()} />
        </div>
      </div>
    </section>
  );
}
