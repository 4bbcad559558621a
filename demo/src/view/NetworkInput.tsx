import type { TestImages } from "../digits/testImages.js";
import { imageSize } from "../drawing/digitImage.js";
import { DigitPixels } from "./DigitPixels.js";
import { TestImageButtons } from "./TestImageButtons.js";

interface NetworkInputProps {
  /** The 64 pixels that are classified; undefined where nothing is drawn. */
  readonly image: Uint8Array | undefined;
  readonly tests: TestImages | undefined;
  /** Index of the test image that is shown. */
  readonly chosen: number | undefined;
  choose(index: number): void;
}

/** What the network gets to see, and test images to show it. */
export function NetworkInput({ image, tests, chosen, choose }: NetworkInputProps) {
  return (
    <div class="input">
      <div class="sees">
        <h3>What the network sees</h3>
        <svg viewBox={`0 0 ${imageSize} ${imageSize}`} aria-hidden="true" focusable="false" shape-rendering="crispEdges">
          {image === undefined ? null : <DigitPixels image={image} size={imageSize} />}
        </svg>
        <p class="quiet">
          {"The drawing scaled, set upright and counted down to 8\u00a0×\u00a08 pixels, as the digits were that it learned from."}
        </p>
      </div>
      <div class="tests">
        <h3>Or show it a test image</h3>
        <TestImageButtons tests={tests} chosen={chosen} choose={choose} />
      </div>
    </div>
  );
}
