import { imageSize } from "../../drawing/digitImage.js";
import { DigitPixels } from "../../view/DigitPixels.js";
import { imageAt, type LabelledImages } from "../data/images.js";

/** Drawings that are shown, the newest of all. */
const shownDrawings = 15;

/** What somebody drew, as the network sees it. */
export function Drawings({ drawn, drop }: { readonly drawn: LabelledImages; drop(): void }) {
  const first = Math.max(0, drawn.count - shownDrawings);
  const shown = Array.from({ length: drawn.count - first }, (_, index) => first + index);
  return (
    <div class="drawings">
      <h3>{drawn.count === 0 ? "Your drawings" : `Your drawings: ${drawn.count}`}</h3>
      {drawn.count === 0 ? (
        <p class="quiet">None yet. Each takes four of the 128 places of a batch, all together at most 32, and is saved with the step.</p>
      ) : (
        <>
          <ul>
            {shown.map((index) => (
              <li key={index}>
                <svg
                  viewBox={`0 0 ${imageSize} ${imageSize}`}
                  role="img"
                  aria-label={`Drawing of a ${drawn.labels[index]}`}
                  shape-rendering="crispEdges"
                >
                  <DigitPixels image={imageAt(drawn, index)} size={imageSize} />
                </svg>
                <span aria-hidden="true">{drawn.labels[index]}</span>
              </li>
            ))}
          </ul>
          <button type="button" onClick={drop}>
            Take the last one back
          </button>
        </>
      )}
    </div>
  );
}
