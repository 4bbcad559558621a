import type { Classifier } from "../../digits/classifier.js";
import { pixelsOf } from "../../digits/evaluate.js";
import { layerSizes } from "../../digits/model.js";
import { indexOfLargest } from "../../digits/probabilities.js";
import type { TestImages } from "../../digits/testImages.js";
import type { TestResult } from "./history.js";

/** Lets the network read all test images at once. */
export async function testNetwork(classifier: Classifier, { images, labels }: TestImages): Promise<Omit<TestResult, "step">> {
  const logits = await classifier.logits(pixelsOf(images));
  const classes = layerSizes[3];
  const rows = labels.map((label, row) => ({ label, logits: logits.subarray(row * classes, (row + 1) * classes) }));
  const correct = rows.filter((row) => indexOfLargest(row.logits) === row.label).length;
  const loss = rows.reduce((sum, row) => sum + crossEntropy(row.logits, row.label), 0) / rows.length;
  return { loss, accuracy: correct / rows.length };
}

/** Minus the logarithm of the label's probability. */
function crossEntropy(logits: Float32Array, label: number): number {
  const largest = Math.max(...logits);
  const sum = logits.reduce((total, logit) => total + Math.exp(logit - largest), 0);
  return Math.log(sum) + largest - (logits[label] ?? 0);
}
