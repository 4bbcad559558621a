import { brightest } from "../drawing/digitImage.js";
import type { Classifier } from "./classifier.js";
import { layerSizes } from "./model.js";
import { indexOfLargest } from "./probabilities.js";
import type { FlaxAnswers, TestImages } from "./testImages.js";

/** How the restored network did on the test images. */
export interface Evaluation {
  readonly correct: number;
  readonly total: number;
  /** The predicted digit of each image. */
  readonly predictions: readonly number[];
  /** Flax's answers with the same weights. */
  readonly flax: FlaxAnswers | undefined;
}

/** Classifies all test images in one batch. */
export async function evaluate(classifier: Classifier, tests: TestImages, step: number): Promise<Evaluation> {
  const logits = await classifier.logits(pixelsOf(tests.images));
  const classes = layerSizes[3];
  const predictions = tests.images.map((_, row) => indexOfLargest(logits.subarray(row * classes, (row + 1) * classes)));
  const correct = predictions.filter((digit, index) => digit === tests.labels[index]).length;
  return { correct, total: predictions.length, predictions, flax: tests.flax.get(step) };
}

/** Images of 0 to 16 as the network takes them, from 0 to 1: `[images, 64]`. */
export function pixelsOf(images: readonly Uint8Array[]): Float32Array<ArrayBuffer> {
  const pixels = new Float32Array(images.length * layerSizes[0]);
  images.forEach((image, row) => {
    pixels.set(
      Array.from(image, (value) => value / brightest),
      row * layerSizes[0],
    );
  });
  return pixels;
}
