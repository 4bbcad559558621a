import { useEffect, useRef } from "preact/hooks";
import { imageSize } from "../drawing/digitImage.js";

const unitsAcross = 16;
const unitsDown = 8;
/** Pixels from one unit's tile to the next. */
const pitch = imageSize + 1;

/** Colours of weights above and below zero, which both light and dark ground carry. */
const positive = [64, 96, 240];
const negative = [234, 106, 32];

/**
 * The first layer's weights as pictures: for each of the 128 units a tile of the 64 pixels that it weighs.
 * @param kernel `[64, 128]`; undefined: nothing to show yet.
 */
export function KernelPicture({ kernel }: { readonly kernel: Float32Array | undefined }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (kernel !== undefined) context?.putImageData(pictureOf(kernel), 0, 0);
  }, [kernel]);
  return (
    <canvas
      ref={canvas}
      width={unitsAcross * pitch - 1}
      height={unitsDown * pitch - 1}
      role="img"
      aria-label="Weights of the first layer as 128 small pictures of 8 by 8 pixels; blue where ink speaks for a unit, orange where it speaks against"
    />
  );
}

function pictureOf(kernel: Float32Array): ImageData {
  const picture = new ImageData(unitsAcross * pitch - 1, unitsDown * pitch - 1);
  const units = unitsAcross * unitsDown;
  const largest = kernel.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0);
  kernel.forEach((weight, index) => {
    const [pixel, unit] = [Math.floor(index / units), index % units];
    const x = (unit % unitsAcross) * pitch + (pixel % imageSize);
    const y = Math.floor(unit / unitsAcross) * pitch + Math.floor(pixel / imageSize);
    const strength = Math.sqrt(Math.abs(weight) / largest);
    picture.data.set([...(weight < 0 ? negative : positive), 255 * strength], (y * picture.width + x) * 4);
  });
  return picture;
}
