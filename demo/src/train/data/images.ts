/** Pixels of an image: 8 × 8, row by row. */
export const pixelsAnImage = 64;

/** Images to learn from, and the digits that they show. */
export interface LabelledImages {
  readonly count: number;
  /** 64 pixels each, row by row, from 0 to 16. */
  readonly pixels: Uint8Array;
  readonly labels: Uint8Array;
}

/** No images yet. */
export const noImages: LabelledImages = { count: 0, pixels: new Uint8Array(), labels: new Uint8Array() };

/** The same images and one more. */
export const withImage = ({ count, pixels, labels }: LabelledImages, image: Uint8Array, digit: number): LabelledImages => ({
  count: count + 1,
  pixels: joined(pixels, image),
  labels: joined(labels, Uint8Array.of(digit)),
});

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/** The same images without the last one. */
export const withoutLast = ({ count, pixels, labels }: LabelledImages): LabelledImages => ({
  count: count - 1,
  pixels: pixels.slice(0, -pixelsAnImage),
  labels: labels.slice(0, -1),
});

/** One of the images, 64 pixels. */
export const imageAt = ({ pixels }: LabelledImages, index: number): Uint8Array =>
  pixels.subarray(index * pixelsAnImage, (index + 1) * pixelsAnImage);

/** The file as `e2e/fixtures/training.py` writes it. */
interface ImagesFile {
  readonly count: number;
  /** Base64 of the pixels. */
  readonly images: string;
  /** A character an image. */
  readonly labels: string;
}

/** Reads the file's JSON. */
export const parseImages = ({ count, images, labels }: ImagesFile): LabelledImages => ({
  count,
  pixels: Uint8Array.from(atob(images), (character) => character.charCodeAt(0)),
  labels: Uint8Array.from(labels, Number),
});
