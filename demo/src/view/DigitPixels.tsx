import { brightest, imageSize } from "../drawing/digitImage.js";

/** The 8 × 8 pixels of an image, as ink of 17 strengths; fills the SVG coordinates from 0 to `size`. */
export function DigitPixels({ image, size }: { readonly image: Uint8Array; readonly size: number }) {
  const side = size / imageSize;
  return (
    <g class="pixels">
      {Array.from(image, (value, index) =>
        value === 0 ? null : (
          <rect
            key={index}
            x={(index % imageSize) * side}
            y={Math.floor(index / imageSize) * side}
            width={side}
            height={side}
            opacity={value / brightest}
          />
        ),
      )}
    </g>
  );
}
