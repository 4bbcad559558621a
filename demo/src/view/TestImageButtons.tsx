import { useMemo } from "preact/hooks";
import type { TestImages } from "../digits/testImages.js";
import { imageSize } from "../drawing/digitImage.js";
import { DigitPixels } from "./DigitPixels.js";

interface TestImageButtonsProps {
  readonly tests: TestImages | undefined;
  /** Index of the image that is shown. */
  readonly chosen: number | undefined;
  choose(index: number): void;
}

/** One test image of each digit, to classify instead of a drawing. */
export function TestImageButtons({ tests, chosen, choose }: TestImageButtonsProps) {
  const indices = useMemo(() => Array.from({ length: 10 }, (_, digit) => tests?.labels.indexOf(digit) ?? -1), [tests]);
  return (
    <div class="samples">
      {indices.map((index, digit) => {
        const image = tests?.images[index];
        return (
          <button
            key={digit}
            type="button"
            disabled={image === undefined}
            aria-label={`Test image of a ${digit}`}
            aria-pressed={image !== undefined && index === chosen}
            onClick={() => choose(index)}
          >
            <svg viewBox={`0 0 ${imageSize} ${imageSize}`} aria-hidden="true" focusable="false" shape-rendering="crispEdges">
              {image === undefined ? null : <DigitPixels image={image} size={imageSize} />}
            </svg>
          </button>
        );
      })}
    </div>
  );
}
